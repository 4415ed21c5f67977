// The graph of a report: moved and zoomed with mouse, fingers and keys, and linked with the table.
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { describeInBrowser } from '../support/browser/chromium.ts';
import { openReport } from '../support/browser/open-report.ts';
import { call, change, plan } from '../support/report/small-plan.ts';
import { fullPlan, manySamples } from '../support/report/sample-plans.ts';

/** The visible part of the drawing: left, top, width, height. */
async function visiblePart(page: Page): Promise<[number, number, number, number]> {
  const [x = 0, y = 0, width = 0, height = 0] =
    (await page.locator('svg.graph').getAttribute('viewBox'))?.split(' ').map(Number) ?? [];
  return [x, y, width, height];
}

async function frameOf(page: Page) {
  const frame = page.locator('.graph-frame');
  await frame.scrollIntoViewIfNeeded();
  const box = await frame.boundingBox();
  if (box === null) throw new Error('the graph is not visible');
  return { frame, middle: { x: box.x + box.width / 2, y: box.y + box.height / 2 } };
}

const selection = (page: Page) => page.locator('.selection').innerText();
const zoomIn = (page: Page) => page.getByRole('button', { name: 'Zoom in' });

describeInBrowser('the graph of a plan', () => {
  it('has a box for each change, and an arrow to each change that waits for another one', async () => {
    const { page } = await openReport(fullPlan);
    expect(await page.locator('.node-label').allTextContents()).toEqual(['old', 'ball', 'kite', 'tail']);
    expect(await page.locator('.node-detail').allTextContents()).toContain('create Toy · acme');
    expect(await page.locator('path.edge').count()).toBe(1);
    expect(await page.getByRole('application').getAttribute('aria-label')).toBe(
      'Graph of 4 changes and 1 arrow',
    );
  });

  it('is left out if no change waits for another one', async () => {
    const { page } = await openReport(plan({ changes: [change(), change({ action: 'create' })] }));
    expect(await page.locator('#graph').count()).toBe(0);
    expect(await page.locator('nav').getByText('Graph').count()).toBe(0);
  });

  it.each([2, 300])('shows all of %i changes when it is opened', async (count) => {
    const { page } = await openReport(manySamples(count));
    await frameOf(page);
    const [x, y, width, height] = await visiblePart(page);
    expect([x <= 0, y <= 0]).toEqual([true, true]);
    for (const name of ['x', 'y'] as const) {
      const places = await page
        .locator('.node')
        .evaluateAll((nodes, at) => nodes.map((node) => Number(node.getAttribute(at))), name);
      expect(Math.max(...places)).toBeLessThan(name === 'x' ? x + width : y + height);
    }
  });

  it('is moved with the mouse, and zoomed with the wheel only if Ctrl is pressed', async () => {
    const { page } = await openReport(manySamples(300));
    const { middle } = await frameOf(page);
    for (let left = 8; left > 0; left -= 1) await zoomIn(page).click();
    const before = await visiblePart(page);
    await page.mouse.move(middle.x, middle.y);
    await page.mouse.down();
    await page.mouse.move(middle.x - 120, middle.y - 80, { steps: 4 });
    await page.mouse.up();
    const moved = await visiblePart(page);
    expect(moved[0]).toBeGreaterThan(before[0]);
    expect(moved[1]).toBeGreaterThan(before[1]);
    expect(moved[2]).toBe(before[2]);
    expect(await selection(page)).toBe('');
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -200);
    await page.keyboard.up('Control');
    await expect.poll(async () => (await visiblePart(page))[2]).toBeLessThan(moved[2]);
    const zoomed = await visiblePart(page);
    const scrolled = () => page.evaluate<number>('scrollY');
    const top = await scrolled();
    await page.mouse.wheel(0, -200);
    await expect.poll(scrolled).toBeLessThan(top);
    expect(await visiblePart(page)).toEqual(zoomed);
  });

  it('is moved with one finger, and zoomed with two', async () => {
    const { page } = await openReport(manySamples(300), {
      hasTouch: true,
      viewport: { width: 390, height: 844 },
    });
    const { middle } = await frameOf(page);
    const session = await page.context().newCDPSession(page);
    const touch = (
      type: 'touchStart' | 'touchMove' | 'touchEnd',
      ...points: readonly (readonly [number, number])[]
    ) =>
      session.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: points.map(([x, y], id) => ({ x: middle.x + x, y: middle.y + y, id })),
      });
    for (let left = 8; left > 0; left -= 1) await zoomIn(page).click();
    const before = await visiblePart(page);
    await touch('touchStart', [0, 0]);
    await touch('touchMove', [-30, -40]);
    await touch('touchMove', [-60, -80]);
    await touch('touchEnd');
    await expect.poll(async () => (await visiblePart(page))[1]).toBeGreaterThan(before[1]);
    const moved = await visiblePart(page);
    await touch('touchStart', [-30, 0], [30, 0]);
    await touch('touchMove', [-60, 0], [60, 0]);
    await touch('touchMove', [-90, 0], [90, 0]);
    await touch('touchEnd');
    await expect.poll(async () => (await visiblePart(page))[2]).toBeLessThan(moved[2] / 2);
  });

  it('can be moved, zoomed and walked through with keys, up to the change in the table', async () => {
    const { page } = await openReport(manySamples(300));
    const { frame } = await frameOf(page);
    await frame.focus();
    const before = await visiblePart(page);
    for (const key of ['+', '+', '+', 'ArrowRight', 'ArrowDown']) await page.keyboard.press(key);
    const after = await visiblePart(page);
    expect(after[2]).toBeLessThan(before[2]);
    expect(after[0]).toBeGreaterThan(before[0]);
    await page.keyboard.press('0');
    const all = await visiblePart(page);
    expect(all[0]).toBeLessThanOrEqual(0);
    expect(all[2]).toBeGreaterThan(after[2]);
    for (const key of ['n', 'n', 'p', 'n']) await page.keyboard.press(key);
    const chosen = /Toy\/box-\d\/(?<name>toy-\d+)/.exec(await selection(page))?.groups?.['name'] ?? '';
    await page.keyboard.press('Enter');
    const opener = page.getByRole('button', { name: chosen, exact: true });
    expect(await opener.getAttribute('aria-expanded')).toBe('true');
  });

  it('cannot be moved out of sight', async () => {
    const { page } = await openReport(fullPlan);
    const { frame } = await frameOf(page);
    await frame.focus();
    for (let left = 40; left > 0; left -= 1) await page.keyboard.press('ArrowRight');
    for (let left = 40; left > 0; left -= 1) await page.keyboard.press('-');
    expect(await page.locator('.node').first().isVisible()).toBe(true);
    const [x, , width] = await visiblePart(page);
    const middle = await page.locator('.node').first().getAttribute('x');
    expect(Number(middle)).toBeGreaterThan(x);
    expect(Number(middle)).toBeLessThan(x + width);
  });

  it('shows the change of a chosen box, and marks its arrows', async () => {
    const { page } = await openReport(fullPlan);
    await frameOf(page);
    await page.locator('.node', { hasText: 'tail' }).click();
    expect(await selection(page)).toContain('update Child/attic/tail');
    expect(await page.locator('path.edge.selected').count()).toBe(1);
    await page.getByRole('button', { name: 'Show in the table' }).click();
    expect(await page.getByRole('button', { name: 'tail', exact: true }).getAttribute('aria-expanded')).toBe(
      'true',
    );
  });

  it('shows more than 500 changes in groups, each of which leads to its changes', async () => {
    const { page } = await openReport(manySamples(600));
    const boxes = await page.locator('.node-label').allTextContents();
    expect(boxes.length).toBeLessThanOrEqual(24);
    await frameOf(page);
    await page.locator('.node').first().click();
    await page.getByRole('button', { name: 'Show in the table' }).click();
    const [count] = (await page.locator('.status').innerText()).split(' ');
    expect(boxes[0]).toMatch(new RegExp(`^${count} (?:Toy|Child)$`));
  });

  it('shows 500 changes one by one', async () => {
    const { page } = await openReport(manySamples(500));
    expect(await page.locator('.node').count()).toBe(500);
  });

  it('joins the groups of all targets if there would be too many groups', async () => {
    const spread = Array.from({ length: 700 }, (_, index) =>
      change({
        action: index % 2 === 0 ? 'create' : 'update',
        address: { kind: 'Toy', target: `box-${index}`, name: 'kite' },
        calls: [call({ id: `call-${index}`, needs: index % 2 === 0 ? [] : [`call-${index - 1}`] })],
      }),
    );
    const { page } = await openReport(plan({ changes: spread }));
    expect(await page.locator('.node-label').allTextContents()).toEqual(['350 Toy', '350 Toy']);
  });

  it('is printed completely, however it was zoomed', async () => {
    const { page } = await openReport(manySamples(300));
    for (let left = 8; left > 0; left -= 1) await zoomIn(page).click();
    const right = await page
      .locator('.node')
      .evaluateAll((nodes) => Math.max(...nodes.map((node) => Number(node.getAttribute('x')))));
    const [left, , width] = await visiblePart(page);
    expect(left + width).toBeLessThan(right);
    // Chromium reports a new medium with a frame, and draws frames of the page in front only.
    await page.bringToFront();
    await page.emulateMedia({ media: 'print' });
    await expect.poll(async () => (await visiblePart(page)).slice(0, 2)).toEqual([0, 0]);
    expect((await visiblePart(page))[2]).toBeGreaterThan(right);
  });
});
