// node run.mjs --tool ALIDADE [--browser CHROMIUM] [--screens FOLDER] [--picture FILE.png]
// The report in a real browser: every chart, slider and tooltip, dark, printed, without scripts, narrow and wide, with hostile
// names, compared, and live. One process, one browser.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {parseArgs} from 'node:util';
import {chromium} from 'playwright-core';
import {accessible, allDrawn, certificateIsInPlace, chartsShowTheirNumbers, close, fits, open} from './checks.mjs';
import {hostile, rowsOf, Workshop} from './pages.mjs';

const {values: given} = parseArgs({options: {tool: {type: 'string'}, browser: {type: 'string', default: '/usr/bin/chromium'},
    screens: {type: 'string'}, picture: {type: 'string'}}});
const folder = mkdtempSync(join(tmpdir(), 'alidade-browser-'));
const shop = new Workshop(resolve(given.tool), folder);
const children = [];
const browser = await chromium.launch({executablePath: given.browser, args: ['--no-sandbox']});

async function screen(page, name) {
    if (!given.screens) return;
    mkdirSync(given.screens, {recursive: true});
    await page.screenshot({path: join(given.screens, `${name}.png`), fullPage: true});
}

const file = (path) => `file://${path}`;

const tests = {
    async 'the demo: every chart shows its numbers'() {
        const page = await open(browser, file(shop.demo()));
        console.log(`   ${(statSync(shop.path('demo.html')).size / 1e6).toFixed(2)} MB, first chart after ${page.firstChart} ms`);
        // Not a measure of speed: other stages run beside this one.
        assert.ok(page.firstChart < 60_000);
        assert.ok((await chartsShowTheirNumbers(page)) >= 12);
        await certificateIsInPlace(page);
        await accessible(page, 'light');
        await screen(page, 'light');
        await close(page);
    },
    async 'a slider moves what is shown, by keyboard too'() {
        const page = await open(browser, file(shop.path('demo.html')));
        await allDrawn(page);
        const spec = JSON.parse(await page.locator('#regions-figure-spec').textContent());
        const learned = spec.concat[0].layer.find((layer) => layer.mark.type === 'point' && layer.mark.shape !== 'cross');
        await page.locator('#regions-figure-slider').focus();
        for (const slice of [1, 2]) {
            await page.keyboard.press('ArrowRight');
            const [wanted] = rowsOf(learned, slice);
            await page.waitForFunction(
                (row) => document.querySelector('[data-figure="regions-figure"] svg')?.outerHTML.includes(`${row.first}`.slice(0, 6)) ||
                    document.querySelector('[data-figure="regions-figure"]').view.signal('slice') === row.set,
                wanted,
            );
            assert.equal(await page.locator('#regions-figure output').textContent(), `${slice}`);
            const shown = await page.evaluate(() => document.querySelector('[data-figure="regions-figure"]').view.signal('slice'));
            assert.equal(shown, slice);
        }
        await close(page);
    },
    async 'a tooltip says the number'() {
        const page = await open(browser, file(shop.path('demo.html')));
        await allDrawn(page);
        const bar = page.locator('[data-figure="next-figure"] .mark-rect.role-mark path').first();
        await bar.scrollIntoViewIfNeeded();
        await bar.hover();
        await page.waitForSelector('#tooltip:not([hidden])');
        const spec = JSON.parse(await page.locator('#next-figure-spec').textContent());
        const {place, amount} = rowsOf(spec.layer[0])[0];
        const text = await page.locator('#tooltip').textContent();
        assert.ok(text.includes(place) && text.includes(`${amount}`.slice(0, 5)), text);
        await close(page);
    },
    async 'dark where the reader wants it dark, and white on paper'() {
        const page = await open(browser, file(shop.path('demo.html')), {colorScheme: 'dark'});
        await allDrawn(page);
        const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
        const ink = () => page.evaluate(() => document.querySelector('[data-figure="certificate-figure"] .role-axis-label text').getAttribute('fill'));
        assert.equal(await ground(), 'rgb(21, 25, 29)');
        assert.equal(await ink(), '#e8ecef');
        await accessible(page, 'dark');
        await screen(page, 'dark');
        await page.emulateMedia({colorScheme: 'light'});
        await page.waitForFunction(() => document.querySelector('[data-figure="certificate-figure"] .role-axis-label text')?.getAttribute('fill') === '#1d2329');
        await page.emulateMedia({media: 'print', colorScheme: 'light'});
        assert.equal(await ground(), 'rgb(255, 255, 255)');
        assert.equal(await page.locator('nav').isVisible(), false);
        // What is printed is the fixed picture, which follows the style sheet.
        assert.ok(await page.locator('[data-figure="certificate-figure"] > svg').isVisible());
        assert.equal(await page.locator('[data-figure="certificate-figure"] .drawn').isVisible(), false);
        const paper = await page.pdf({format: 'A4'});
        assert.ok(paper.length > 50_000);
        if (given.screens) await page.pdf({format: 'A4', path: join(given.screens, 'print.pdf')});
        await close(page);
    },
    async 'paper has every table, with scripts and without'() {
        for (const javaScriptEnabled of [true, false]) {
            const page = await open(browser, file(shop.path('demo.html')), {javaScriptEnabled});
            // The last cell of each folded table; those that are not folded are seen anyway.
            const cells = page.locator('main details table tbody tr:last-child > :last-child');
            const seen = () => cells.evaluateAll((all) => all.filter((cell) => cell.checkVisibility() && cell.getBoundingClientRect().height > 5).length);
            const all = await cells.count(), before = await seen();
            assert.ok(all >= 12 && before < all, `${before} of ${all}`);
            await page.emulateMedia({media: 'print'});
            assert.equal(await seen(), all);
            // None of them is cut, nor to be scrolled.
            const cut = await page.locator('main .scroll').evaluateAll((boxes) => boxes.filter((box) => box.scrollHeight > box.clientHeight + 1).length);
            assert.equal(cut, 0);
            await page.emulateMedia({media: 'screen'});
            assert.equal(await seen(), before);
            if (javaScriptEnabled) {
                await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
                assert.equal(await seen(), all);
                await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
                assert.equal(await seen(), before);
            }
            await close(page);
        }
    },
    async 'as narrow as a telephone, as wide as a desk'() {
        const page = await open(browser, file(shop.path('demo.html')));
        for (const width of [320, 1920]) {
            await fits(page, width);
            await chartsShowTheirNumbers(page);
            await screen(page, `${width}`);
        }
        await close(page);
    },
    async 'readable with scripts off'() {
        const page = await open(browser, file(shop.path('demo.html')), {javaScriptEnabled: false});
        const charts = await page.locator('.chart').count();
        assert.ok(charts >= 12);
        assert.equal(await page.locator('.chart > svg').count(), charts);
        assert.equal(await page.locator('figure table').count(), charts);
        assert.ok(await page.locator('noscript .note').isVisible());
        assert.equal(await page.locator('.slider').first().isVisible(), false);
        const summary = page.locator('#visits-figure summary');
        await summary.click();
        assert.ok(await page.locator('#visits-figure table').isVisible());
        await screen(page, 'scripts-off');
        await close(page);
    },
    async 'the data can be had'() {
        const page = await open(browser, file(shop.path('demo.html')));
        const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#download-data').click()]);
        const data = JSON.parse(readFileSync(await download.path(), 'utf8'));
        const printed = JSON.parse(shop.run('report', 'demo', '--json'));
        assert.deepEqual(data.runs, printed.runs);
        assert.deepEqual(Object.keys(data.figures), Object.keys(printed.figures));
        await close(page);
    },
    async 'a grid has arrows and a step slider'() {
        const page = await open(browser, file(shop.grid()));
        await chartsShowTheirNumbers(page);
        const arrows = () => page.locator('[data-figure="policy-figure-0"] .mark-text text').allTextContents();
        await page.waitForFunction(() => document.querySelectorAll('[data-figure="policy-figure-0"] .mark-text text').length >= 12);
        assert.ok((await arrows()).filter((text) => /^[↑→↓←]\??$/.test(text)).length >= 12);
        const spec = JSON.parse(await page.locator('#policy-figure-0-spec').textContent());
        const steps = new Set(spec.layer.flatMap((layer) => [0, 5].map((step) => JSON.stringify(rowsOf(layer, step).map((row) => row.label)))));
        assert.ok(steps.size > 1);
        await page.locator('#policy-figure-0-slider').fill('5');
        const wanted = rowsOf(spec.layer[1], 5).map((row) => row.label).sort();
        await page.waitForFunction((labels) => {
            const shown = [...document.querySelectorAll('[data-figure="policy-figure-0"] .mark-text.role-mark text')].map((text) => text.textContent).sort();
            return JSON.stringify(shown) === JSON.stringify(labels);
        }, wanted);
        await accessible(page, 'grid');
        await screen(page, 'grid');
        await close(page);
    },
    async 'several runs are compared'() {
        const page = await open(browser, file(shop.compared()));
        await chartsShowTheirNumbers(page);
        await accessible(page, 'compared');
        await screen(page, 'compared');
        await close(page);
    },
    async 'hostile names do nothing'() {
        const page = await open(browser, file(shop.hostile()));
        await chartsShowTheirNumbers(page);
        for (const mark of (await page.locator('.drawn .role-mark path').all()).slice(0, 40)) await mark.hover({timeout: 300, force: true}).catch(() => {});
        assert.equal(await page.evaluate(() => window.hacked), undefined);
        assert.equal(await page.evaluate(() => document.querySelectorAll('script:not([type])').length), 1);
        assert.equal(await page.evaluate(() => document.querySelectorAll('img').length), 0);
        assert.ok((await page.locator('h1').textContent()).includes(hostile[0].slice(0, 20)));
        await fits(page, 320);
        await accessible(page, 'hostile');
        await screen(page, 'hostile');
        await close(page);
    },
    async 'a live run is watched to its end'() {
        const run = shop.start('explore', 'builtin:garnet?states=30&actions=4&features=5&horizon=6&successors=8&seed=3', '--episodes', '4e5',
            '--replan', 'growth=0.001', '--seed', '1', '-o', 'live', '--threads', '1');
        children.push(run);
        const ended = new Promise((done) => run.on('exit', done));
        for (let i = 0; i < 300 && !existsSync(shop.path('live/run.sqlite')); ++i) await new Promise((done) => setTimeout(done, 20));
        const server = shop.start('serve', 'live', '--json');
        children.push(server);
        let text = '';
        for await (const piece of server.stdout) {
            text += piece;
            if (text.includes('}')) break;
        }
        const {address} = JSON.parse(text);
        const expected = [/status of 4|ERR_INCOMPLETE|ERR_CONNECTION/];
        const pages = [];
        for (let i = 0; i < 2; ++i) {
            const context = await browser.newContext({viewport: {width: 1100, height: 900}});
            const page = await context.newPage();
            page.complaints = [];
            page.on('pageerror', (error) => page.complaints.push(String(error)));
            page.on('console', (message) => message.type() === 'error' && page.complaints.push(message.text()));
            await page.goto(address);
            pages.push(page);
        }
        const versions = new Set();
        const watch = setInterval(() => void pages[0].evaluate(() => document.body.dataset.version).then((v) => versions.add(v), () => {}), 200);
        assert.equal(await ended, 0);
        for (const page of pages) {
            await page.waitForFunction(() => /has ended after 400,000/.test(document.getElementById('live').textContent), null, {timeout: 60_000});
            await page.waitForFunction(() => document.querySelector('main').textContent.includes('400,000 simulated episodes'), null, {timeout: 20_000});
            await chartsShowTheirNumbers(page);
        }
        clearInterval(watch);
        assert.ok(versions.size >= 2, `the page changed ${versions.size} times`);
        await accessible(pages[0], 'live');
        // It goes on when the run has ended, and is gone when it is told to.
        const answer = await pages[0].context().request.get(address);
        assert.equal(answer.status(), 200);
        server.kill('SIGINT');
        assert.equal(await new Promise((done) => server.on('exit', done)), 0);
        for (const page of pages) await close(page, expected);
    },
    async 'without Node the page has no script, and says so'() {
        const out = shop.path('embedded');
        execFileSync('cmake', [`-DWEB=${resolve('../../web')}`, `-DOUT=${out}`, '-DHEADER=page_parts.hpp', '-P', resolve('../../web/embed.cmake')], {stdio: 'pipe'});
        const text = readFileSync(join(out, 'page_parts.cpp'), 'utf8');
        assert.match(text, /page_script\(\) \{\s+return\s+""\s+;/);
        assert.match(text, /prefers-color-scheme/);
    },
};

let failed = 0;
try {
    for (const [name, test] of Object.entries(tests)) {
        const began = Date.now();
        try {
            await test();
            console.log(`ok ${name} (${Date.now() - began} ms)`);
        } catch (error) {
            ++failed;
            console.log(`FAILED ${name}\n${error.stack}`);
        }
    }
    if (given.picture) {
        const page = await open(browser, file(shop.path('demo.html')), {viewport: {width: 940, height: 1390}, deviceScaleFactor: 0.7});
        await allDrawn(page);
        await page.screenshot({path: given.picture});
        await page.context().close();
    }
} finally {
    for (const child of children) child.kill('SIGKILL');
    await browser.close();
    rmSync(folder, {recursive: true, force: true});
}
console.log(`${Object.keys(tests).length - failed} of ${Object.keys(tests).length} browser tests passed`);
process.exit(failed > 0 ? 1 : 0);
