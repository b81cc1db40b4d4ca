// Makes a page of tables and fixed pictures answer: draws the charts anew with Vega, moves sliders, offers the data,
// and, where the page is served by a program that watches a run, takes up news.
import {expressionInterpreter} from 'vega-interpreter';
import {parse, View} from 'vega';
import {compile, type TopLevelSpec} from 'vega-lite';

interface Drawn {
    view: View;
    redraw: () => void;
}

/** What a test may ask a chart's box for. */
interface ChartBox extends HTMLElement {
    view?: View;
}

const drawn = new Map<string, Drawn>();
const manyMarks = 1500; // more are drawn on a canvas: as elements they would make the page slow

function colour(name: string): string {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function theme(): object {
    const ink = colour('ink');
    const rule = colour('rule');
    const font = getComputedStyle(document.body).fontFamily;
    const axis = {labelColor: ink, titleColor: ink, gridColor: rule, domainColor: ink, tickColor: ink, titleFontWeight: 'normal', labelFontSize: 12, titleFontSize: 13};
    return {
        aria: false,
        background: 'transparent',
        font,
        view: {stroke: rule},
        axis,
        legend: {labelColor: ink, titleColor: ink, labelFontSize: 12, titleFontSize: 12, symbolStrokeWidth: 2},
        title: {color: ink, fontSize: 13, anchor: 'start'},
        text: {color: colour('mark')},
        point: {color: colour('mark')},
        range: {category: [...Array(10).keys()].map((i) => colour(`c${i}`))},
    };
}

type Loose = Record<string, any>;

/** The panels of a specification: itself, or those that it puts side by side. */
function panels(spec: Loose): Loose[] {
    return spec.concat ?? [spec];
}

function rows(spec: Loose): number {
    let count = 0;
    for (const panel of panels(spec))
        for (const layer of panel.layer)
            for (const value of layer.data.values)
                count += layer.transform?.[0]?.flatten ? value[layer.transform[0].flatten[0]].length : 1;
    return count;
}

/** Narrow windows: panels below each other, and no wider than there is room. */
function fit(spec: Loose, room: number): void {
    const margin = 110;
    if (spec.concat && room < 700) spec.columns = 1;
    const columns = spec.concat ? Math.min(spec.columns ?? 1, spec.concat.length) : 1;
    for (const panel of panels(spec)) panel.width = Math.max(120, Math.min(panel.width, room / columns - margin));
    const legends = Math.max(1, Math.floor(room / 300));
    for (const panel of panels(spec))
        for (const layer of panel.layer) {
            const legend = layer.encoding.color?.legend;
            if (legend?.columns) legend.columns = Math.min(legend.columns, legends);
        }
}

const tooltip = document.createElement('div');
tooltip.id = 'tooltip';
tooltip.hidden = true;
tooltip.setAttribute('aria-hidden', 'true'); // the same is in the tables

function showTooltip(_: unknown, event: MouseEvent, __: unknown, value: unknown): void {
    if (value === null || value === undefined || value === '') {
        tooltip.hidden = true;
        return;
    }
    tooltip.textContent = '';
    const entries = typeof value === 'object' ? Object.entries(value as object) : [['', value]];
    for (const [key, text] of entries) {
        const line = document.createElement('div');
        line.textContent = key === '' ? String(text) : `${key}: ${text}`;
        tooltip.append(line);
    }
    tooltip.hidden = false;
    const x = Math.min(event.clientX + 14, window.innerWidth - tooltip.offsetWidth - 4);
    const y = Math.min(event.clientY + 14, window.innerHeight - tooltip.offsetHeight - 4);
    tooltip.style.left = `${Math.max(4, x)}px`;
    tooltip.style.top = `${Math.max(4, y)}px`;
}

function sliderOf(box: HTMLElement): HTMLInputElement | null {
    return document.getElementById(`${box.dataset.figure}-slider`) as HTMLInputElement | null;
}

async function draw(box: ChartBox): Promise<void> {
    const id = box.dataset.figure ?? '';
    const text = document.getElementById(`${id}-spec`)?.textContent;
    if (!text) return;
    const spec = JSON.parse(text) as Loose;
    const many = rows(spec);
    fit(spec, box.clientWidth);
    const compiled = compile(spec as unknown as TopLevelSpec, {config: theme()}).spec;
    const place = document.createElement('div');
    place.setAttribute('aria-hidden', 'true'); // the box says what it shows, and the numbers are in the table
    const view = new View(parse(compiled, undefined, {ast: true}), {
        expr: expressionInterpreter,
        renderer: many > manyMarks ? 'canvas' : 'svg',
        container: place,
        hover: true,
    } as ConstructorParameters<typeof View>[1]);
    view.tooltip(showTooltip as never);
    const slider = sliderOf(box);
    if (slider) view.signal('slice', Number(slider.value));
    await view.runAsync();
    if (!box.isConnected) return;
    drawn.get(id)?.view.finalize();
    // The fixed picture stays for the printer: on paper it has the colours of paper, whatever the screen's are.
    place.className = 'drawn';
    box.querySelector('.drawn')?.remove();
    box.append(place);
    box.view = view;
    box.dataset.drawn = 'yes';
    drawn.set(id, {view, redraw: () => void draw(box)});
}

/** Charts that come near are drawn at once, the others when there is nothing else to do. */
const observer = new IntersectionObserver(
    (entries) => {
        for (const entry of entries) if (entry.isIntersecting) begin(entry.target as ChartBox);
    },
    {rootMargin: '400px'},
);

function begin(box: ChartBox): Promise<void> | undefined {
    observer.unobserve(box);
    if (box.dataset.begun) return undefined;
    box.dataset.begun = 'yes';
    return draw(box).catch((error: unknown) => console.error(error)); // the fixed picture stays
}

function whenIdle(): Promise<void> {
    return new Promise((resolve) => {
        if ('requestIdleCallback' in window) window.requestIdleCallback(() => resolve(), {timeout: 500});
        else setTimeout(resolve, 20);
    });
}

async function drawAll(boxes: ChartBox[]): Promise<void> {
    for (const box of boxes) {
        await whenIdle();
        if (box.isConnected) await begin(box);
    }
}

function wireSlider(slider: HTMLInputElement): void {
    const names = JSON.parse(slider.dataset.names ?? '[]') as string[];
    const output = slider.parentElement?.querySelector('output');
    const show = () => {
        const name = names[Number(slider.value)] ?? slider.value;
        if (output) output.textContent = name;
        slider.setAttribute('aria-valuetext', name);
        const figure = drawn.get(slider.id.replace(/-slider$/, ''));
        void figure?.view.signal('slice', Number(slider.value)).runAsync();
    };
    slider.addEventListener('input', show);
    if (slider.parentElement) slider.parentElement.hidden = false;
    show();
}

function offerData(): void {
    const button = document.getElementById('download-data');
    const line = document.getElementById('downloads');
    if (!button || !line) return;
    line.hidden = false;
    button.addEventListener('click', () => {
        const data = JSON.parse(document.getElementById('run-data')?.textContent ?? '{}') as Loose;
        data.figures = {};
        for (const script of document.querySelectorAll<HTMLScriptElement>('script[id$="-spec"]'))
            data.figures[script.id.replace(/-spec$/, '')] = JSON.parse(script.textContent ?? '{}');
        const link = document.createElement('a');
        link.href = URL.createObjectURL(new Blob([JSON.stringify(data)], {type: 'application/json'}));
        link.download = 'alidade-report.json';
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    });
}

function wire(): void {
    for (const slider of document.querySelectorAll<HTMLInputElement>('.slider input')) wireSlider(slider);
    const boxes = [...document.querySelectorAll<ChartBox>('.chart')];
    for (const box of boxes) observer.observe(box);
    void drawAll(boxes);
    offerData();
}

// --- a page that is served while its run goes on ------------------------------------------------------------------

/** What the reader has set, to be kept when news come. */
function readerState(): () => void {
    const sliders = new Map([...document.querySelectorAll<HTMLInputElement>('.slider input')].map((s) => [s.id, s.value]));
    const open = new Map([...document.querySelectorAll('details')].map((d, i) => [d.closest('figure')?.id ?? `${i}`, d.open]));
    const focus = document.activeElement?.id;
    const {scrollX, scrollY} = window;
    return () => {
        for (const [id, value] of sliders) {
            const slider = document.getElementById(id) as HTMLInputElement | null;
            if (slider) slider.value = value;
        }
        document.querySelectorAll('details').forEach((d, i) => {
            d.open = open.get(d.closest('figure')?.id ?? `${i}`) ?? d.open;
        });
        if (focus) document.getElementById(focus)?.focus({preventScroll: true});
        window.scrollTo(scrollX, scrollY);
    };
}

async function takeNews(): Promise<void> {
    const answer = await fetch('page', {cache: 'no-store'});
    if (!answer.ok) return;
    const news = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const restore = readerState();
    for (const place of ['header', 'nav', 'main']) {
        const fresh = news.querySelector(place);
        if (fresh) document.querySelector(place)?.replaceWith(document.importNode(fresh, true));
    }
    for (const figure of drawn.values()) figure.view.finalize();
    drawn.clear();
    observer.disconnect();
    restore();
    wire();
}

function listen(): void {
    const line = document.getElementById('live');
    const say = (text: string) => {
        if (line) line.textContent = text;
    };
    const source = new EventSource('events');
    let busy = Promise.resolve();
    let seen = document.body.dataset.version ?? '';
    source.addEventListener('news', (event) => {
        const {version, words} = JSON.parse((event as MessageEvent<string>).data) as {version: string; words: string};
        say(words);
        if (version === seen) return;
        seen = version;
        busy = busy.then(takeNews).then(() => (document.body.dataset.version = version)).then(() => undefined, () => undefined);
    });
    source.addEventListener('error', () => say('The program that watches the run does not answer; trying again.'));
}

document.body.append(tooltip);
wire();
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => drawn.forEach((figure) => figure.redraw()));
let width = window.innerWidth;
let pending = 0;
window.addEventListener('resize', () => {
    clearTimeout(pending);
    pending = window.setTimeout(() => {
        if (window.innerWidth === width) return;
        width = window.innerWidth;
        drawn.forEach((figure) => figure.redraw());
    }, 200);
});
// On paper everything is open. The style sheet does it where the browser knows how; this is for the others.
let folded: HTMLDetailsElement[] = [];
window.addEventListener('beforeprint', () => {
    folded = [...document.querySelectorAll<HTMLDetailsElement>('details:not([open])')];
    for (const each of folded) each.open = true;
});
window.addEventListener('afterprint', () => {
    for (const each of folded) each.open = false;
    folded = [];
});
document.addEventListener('scroll', () => (tooltip.hidden = true), {passive: true});
if ('live' in document.body.dataset) listen();
