// node build.mjs FOLDER: writes page.js, the page's script in one piece, and notices.txt, the licences of what is in it.
import {build} from 'esbuild';
import {mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2];
mkdirSync(out, {recursive: true});

const result = await build({
    entryPoints: [join(here, 'src/page.ts')],
    absWorkingDir: here,
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2020',
    legalComments: 'none',
    metafile: true,
    write: false,
    outfile: 'page.js',
});
const text = result.outputFiles[0].text.trim();
if (/<!--|<script/i.test(text)) throw new Error('the script cannot stand in a page: it would change how HTML is read');

// Packages that something of is in the script.
const packages = new Set();
for (const [input, {bytesInOutput}] of Object.entries(Object.values(result.metafile.outputs)[0].inputs)) {
    const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (found && bytesInOutput > 0) packages.add(found[1]);
}
const byLicence = new Map(); // the same words once
for (const name of [...packages].sort()) {
    const folder = join(here, 'node_modules', name);
    const {version, license} = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((each) => /^(licen[cs]e|copying)/i.test(each));
    if (!file) throw new Error(`${name} has no licence file`);
    const words = readFileSync(join(folder, file), 'utf8').replace(/\r/g, '').trim();
    byLicence.set(words, [...(byLicence.get(words) ?? []), `${name} ${version} (${license})`]);
}
const notices = [...byLicence].map(([words, names]) => `${names.join(', ')}\n\n${words}\n`).join('\n---\n\n');
writeFileSync(join(out, 'page.js'), text);
writeFileSync(join(out, 'notices.txt'), notices);
