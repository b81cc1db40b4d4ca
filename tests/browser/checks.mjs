// What must hold of a page in a browser.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {rowsOf} from './pages.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A page that may do nothing unexpected: no error, no warning, no dialog, nothing loaded from anywhere. */
export async function open(browser, address, options = {}) {
    const context = await browser.newContext({viewport: {width: 1100, height: 900}, ...options});
    const page = await context.newPage();
    page.complaints = [];
    const complain = (text) => page.complaints.push(text);
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && complain(message.text()));
    page.on('pageerror', (error) => complain(String(error)));
    page.on('dialog', (dialog) => {
        complain(`a dialog: ${dialog.message()}`);
        void dialog.dismiss();
    });
    const home = new URL(address).origin;
    page.on('request', (request) => {
        const url = new URL(request.url());
        if (!['data:', 'blob:'].includes(url.protocol) && url.href !== address && (home === 'null' || url.origin !== home))
            complain(`loaded ${request.url()}`);
    });
    const began = Date.now();
    await page.goto(address);
    if (options.javaScriptEnabled !== false) {
        await page.waitForSelector('.chart[data-drawn]', {state: 'attached', timeout: 30_000});
        page.firstChart = Date.now() - began;
    }
    return page;
}

export async function close(page, expected = []) {
    const left = page.complaints.filter((text) => !expected.some((pattern) => pattern.test(text)));
    assert.deepEqual(left, []);
    await page.context().close();
}

export async function allDrawn(page) {
    await page.waitForFunction(() => document.querySelectorAll('.chart:not([data-drawn])').length === 0, null, {timeout: 60_000});
}

/** What the marks of every chart stand for, as the script drew them, beside what the specification says. */
export async function chartsShowTheirNumbers(page) {
    await allDrawn(page);
    const charts = await page.evaluate(() => {
        const leaves = (group, found) => {
            for (const item of group.items ?? []) {
                if (group.marktype === 'group') for (const mark of item.items ?? []) leaves(mark, found);
                else if (group.name?.match(/layer_\d+.*marks$/)) found.push({mark: group.name, datum: {...item.datum}, x: item.x, y: item.y});
            }
            return found;
        };
        return [...document.querySelectorAll('.chart')].map((box) => ({
            id: box.dataset.figure,
            spec: JSON.parse(document.getElementById(`${box.dataset.figure}-spec`).textContent),
            drawn: leaves(box.view.scenegraph().root, []),
        }));
    });
    assert.ok(charts.length > 0);
    for (const {id, spec, drawn} of charts) {
        const panels = spec.concat ?? [spec];
        const shown = drawn.map(({datum}) => datum);
        for (const panel of panels)
            for (const layer of panel.layer) {
                // Of a point, a bar or a cell there is a mark each; a line is one mark with points in it.
                const rows = rowsOf(layer);
                for (const row of rows) {
                    const found = shown.some((datum) => Object.entries(row).every(([key, value]) => datum[key] === value));
                    assert.ok(found, `${id}: nothing is drawn for ${JSON.stringify(row)}`);
                }
            }
        for (const {x, y} of drawn) assert.ok(Number.isFinite(x ?? 0) && Number.isFinite(y ?? 0), `${id}: a mark is nowhere`);
    }
    return charts.length;
}

/** Certified losses are where a logarithmic axis has them. */
export async function certificateIsInPlace(page) {
    const {points, domain, height} = await page.evaluate(() => {
        const view = document.querySelector('[data-figure="certificate-figure"]').view;
        const scale = view.scale('y');
        const found = [];
        const walk = (group) => {
            for (const item of group.items ?? []) {
                if (group.marktype === 'group') (item.items ?? []).forEach(walk);
                else if (group.marktype === 'line') found.push({y: item.y, loss: item.datum.loss});
            }
        };
        walk(view.scenegraph().root);
        return {points: found, domain: scale.domain(), height: scale.range()[0]};
    });
    assert.ok(points.length > 5);
    for (const {y, loss} of points) {
        const share = Math.log(loss / domain[0]) / Math.log(domain[1] / domain[0]);
        assert.ok(Math.abs(y - height * (1 - share)) < 0.01, `${loss} is drawn at ${y}`);
    }
}

export async function accessible(page, name) {
    await page.evaluate(axe);
    const {violations} = await page.evaluate(() => window.axe.run(document, {resultTypes: ['violations']}));
    assert.deepEqual(violations.map((each) => `${name}: ${each.id}: ${each.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(' | ')}`), []);
}

export async function fits(page, width) {
    await page.setViewportSize({width, height: 900});
    await page.waitForTimeout(400);
    await allDrawn(page);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, `wider than ${width} pixels`);
}
