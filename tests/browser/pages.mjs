// The runs and pages that the browser looks at, made by the real tool.
import {execFileSync, spawn} from 'node:child_process';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

export const hostile = [
    '</script><script>window.hacked=1</script>',
    '"><img src=x onerror="window.hacked=2">',
    "' onmouseover='window.hacked=3",
    '\u202eright to left',
    `🚚${'x'.repeat(10_000)}`,
];

export class Workshop {
    constructor(tool, folder) {
        this.tool = tool;
        this.folder = folder;
        mkdirSync(folder, {recursive: true});
    }

    path(name) {
        return join(this.folder, name);
    }

    run(...words) {
        return execFileSync(this.tool, words, {cwd: this.folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe']});
    }

    start(...words) {
        return spawn(this.tool, words, {cwd: this.folder, stdio: ['ignore', 'pipe', 'ignore']});
    }

    demo() {
        this.run('demo', '-o', 'demo.html', '--run', 'demo');
        return this.path('demo.html');
    }

    grid() {
        this.run('explore', 'builtin:gridworld?width=4&height=3&seed=2', '--episodes', '20000', '-o', 'grid', '--quiet');
        this.run('report', 'grid', '-o', 'grid.html');
        return this.path('grid.html');
    }

    compared() {
        const runs = ['1', '2', '3'].map((seed) => `seed-${seed}`);
        for (const [i, run] of runs.entries())
            this.run('explore', 'builtin:inventory?capacity=4', '--episodes', '2000', '--seed', `${i}`, '-o', run, '--quiet');
        this.run('report', ...runs, '-o', 'compared.html');
        return this.path('compared.html');
    }

    /** Every name that a user can give, and none of them friendly. */
    hostile() {
        this.run('problem', 'make', 'builtin:inventory?capacity=4', '-o', 'evil');
        const file = this.path('evil/problem.toml');
        const list = (names) => `[${names.map((name) => JSON.stringify(name)).join(', ')}]`;
        let text = readFileSync(file, 'utf8');
        text = text.replace(/^name = "inventory"$/m, `name = ${JSON.stringify(hostile[0] + hostile[1])}`);
        text = text.replace(/^state_names = .*$/m, `state_names = ${list(hostile)}`);
        text = text.replace(/^action_names = .*$/m, `action_names = ${list(hostile.map((name) => `a${name}`))}`);
        text = text.replace(/^name = "steady"$/m, `name = ${JSON.stringify(hostile[0])}`);
        text = text.replace(/^name = "busy"$/m, `name = ${JSON.stringify(hostile[1])}`);
        text = text.replace(/^name = "service-level"$/m, `name = ${JSON.stringify(hostile[1])}`);
        writeFileSync(file, text);
        this.run('explore', 'evil', '--episodes', '2000', '-o', 'evil-run', '--quiet');
        this.run('report', 'evil-run', '-o', 'evil.html');
        return this.path('evil.html');
    }
}

/** The rows of a layer of a specification, as the page's script is to see them; of the slice, where there are slices. */
export function rowsOf(layer, slice = 0) {
    const unpacked = [];
    for (const value of layer.data.values) {
        const fields = layer.transform?.find((each) => each.flatten)?.flatten;
        if (!fields) unpacked.push(value);
        else for (const i of value[fields[0]].keys()) unpacked.push({...value, ...Object.fromEntries(fields.map((field) => [field, value[field][i]]))});
    }
    const filter = layer.transform?.find((each) => each.filter)?.filter;
    const field = filter && /datum\['(.*)'\]/.exec(filter)[1];
    return field ? unpacked.filter((row) => row[field] === slice) : unpacked;
}
