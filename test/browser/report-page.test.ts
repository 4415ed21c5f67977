// The page of a report in a real browser: what a reviewer sees, finds, opens, prints.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { pageFile } from '../../scripts/write-page.ts';
import { renderPlanHtml } from '../../src/report/html/plan.ts';
import { renderDiagnosticsHtml } from '../../src/report/html/diagnostics.ts';
import { describeInBrowser, openPage } from '../support/browser/chromium.ts';
import { openReport, pageScript, showHtml } from '../support/browser/open-report.ts';
import { place, plan, problem } from '../support/report/small-plan.ts';
import { fullPlan, manySamples } from '../support/report/sample-plans.ts';

const phone = { viewport: { width: 390, height: 844 } };

const rows = (page: Page) => page.locator('.rows [role=row]');
const names = (page: Page) => page.locator('.rows .opener').allTextContents();
const statusText = (page: Page) => page.locator('.status').textContent();
const chip = (page: Page, action: string) =>
  page.getByRole('button', { name: new RegExp(`^\\W ${action} \\d`) });
const field = (page: Page, label: string) => page.getByLabel(label, { exact: true });
const hasFocus = (found: Locator) =>
  found.evaluate((element) => element === element.ownerDocument.activeElement);
const isWiderThanScreen = (page: Page) =>
  page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');

describeInBrowser('the page of a plan', () => {
  it('is built from the current sources', async () => {
    const written = readFileSync(join(dirname(pageScript), '..', 'page.json'), 'utf8');
    expect(written, 'run "npm run page"').toBe(await pageFile(dirname(pageScript)));
  });

  it('shows its risks first, with the command that acknowledges them', async () => {
    const { page } = await openReport(fullPlan);
    expect(await page.title()).toBe('Plan of nursery');
    const headings = await page.locator('h1, h2').allTextContents();
    expect(headings).toEqual([
      ...['Plan of nursery', 'Next steps', 'Risks', 'Changes', 'Graph', 'Not changed', 'Checked'],
    ]);
    const risks = await page.locator('#risks').innerText();
    expect(risks).toContain(`trueup apply stacks/toys --approve ${fullPlan.digest} --ack deletes,rename`);
    expect(risks).toMatch(/Deletes 1\s+Toy\/acme\/old\s+no longer declared/);
    expect(risks).toMatch(/Access gained 1\s+Toy\/acme\/ball\s+eve may play with it/);
    expect(risks).toMatch(/Access lost 1\s+Toy\/acme\/ball\s+bob may play with it no more/);
    expect(risks).toMatch(/What else trips a guard 1\s+Toy\/acme\/kite\s+rename: looks like old/);
    expect(await names(page)).toEqual(['old', 'ball', 'kite', 'tail']);
  });

  it('leads from a risk to its change, past the filters', async () => {
    const { page } = await openReport(fullPlan);
    await field(page, 'Text').fill('kite');
    await page.locator('#risks').getByRole('button', { name: 'Toy/acme/old' }).click();
    expect(await statusText(page)).toBe('4 changes');
    const opener = page.getByRole('button', { name: 'old', exact: true });
    expect(await opener.getAttribute('aria-expanded')).toBe('true');
    expect(await hasFocus(opener)).toBe(true);
  });

  it('shows the fields of a change, what it waits for, and its requests without secrets', async () => {
    const { page } = await openReport(fullPlan);
    expect(await page.getByRole('button', { name: 'Close all' }).count()).toBe(1);
    const ball = await rows(page).nth(1).locator('.details').innerText();
    expect(ball).toMatch(/colour\s+red → blue/);
    expect(ball).toMatch(/friends\s+-\s+bob\s+\+\s+eve\s+1 the same/);
    expect(ball).toMatch(/one\s+-\s+two\s+\+\s+2\s+three/);
    expect(ball).toMatch(/audit trail\s+modified .* by user-1 \(ann\), toy update/);
    const kite = rows(page).nth(2);
    await kite.getByText('1 request').click();
    expect(await kite.innerText()).toMatch(/token\s+set \(version 2, from env TOY_TOKEN\)/);
    expect(await kite.locator('.calls').innerText()).toMatch(
      /POST \/api\/v2\/toys\s+call Toy\/acme\/kite#create; /,
    );
    expect(await kite.locator('pre').innerText()).toContain('"$secret": {\n      "env": "TOY_TOKEN"');
    await kite.getByRole('button', { name: 'Child/attic/tail' }).click();
    expect(await hasFocus(page.getByRole('button', { name: 'tail', exact: true }))).toBe(true);
  });

  it('shows old and new values at once: in the details of few changes, in the rows of many', async () => {
    const few = await openReport(manySamples(29));
    expect(await few.page.locator('.details').filter({ visible: true }).count()).toBe(29);
    const many = await openReport(manySamples(30));
    expect(await many.page.locator('.details').count()).toBe(0);
    expect(await rows(many.page).filter({ hasText: 'toys-9.yaml' }).innerText()).toMatch(
      /colour\s+red → blue 9/,
    );
  });

  it('says in its head when it was made, from which commit, for which pull request and targets', async () => {
    const { page } = await openPage();
    const made = { at: '2026-11-23T07:40:12.123Z', commit: 'a'.repeat(40), dirty: true as const };
    const review = { name: 'acme/infra#12', url: 'https://code.test/acme/infra/pull/12' };
    await showHtml(page, renderPlanHtml({ ...fullPlan, made }, { review }));
    const head = await page.locator('.head').innerText();
    expect(head).toMatch(/time\s+2026-11-23 07:40:12 UTC/);
    expect(head).toMatch(/commit\s+a{40}, with changes that are not committed/);
    expect(head).toContain('attic: cluster-auth toys at https://attic.test, dialect neutral (1 to update)');
    const link = page.getByRole('link', { name: review.name });
    expect(await link.getAttribute('href')).toBe(review.url);
    await showHtml(page, renderPlanHtml(fullPlan, { review: { ...review, url: 'javascript:alert(1)' } }));
    expect(await page.getByRole('link', { name: review.name }).count()).toBe(0);
  });

  it('has one card for the guards on the same resources, and says what a delete loses', async () => {
    const [deletes] = fullPlan.guards;
    if (deletes === undefined) throw new Error('the plan has no guard');
    const { page } = await openReport({
      ...fullPlan,
      guards: [...fullPlan.guards, { ...deletes, id: 'zero', message: 'all Toy in "acme" would be deleted' }],
      changes: fullPlan.changes.map((one) =>
        one.action === 'delete' ? { ...one, notes: ['it manages 3 resources, and loses their state'] } : one,
      ),
    });
    const cards = await page.locator('.guard').allInnerTexts();
    expect(cards.length).toBe(fullPlan.guards.length);
    expect(cards[0]).toMatch(/deletes\s[\s\S]*zero\s[\s\S]*which resources/);
    expect(await page.locator('.losses').innerText()).toBe('it manages 3 resources, and loses their state');
  });

  it('is a table if scripts are switched off', async () => {
    const { page } = await openReport(fullPlan, { javaScriptEnabled: false });
    expect(await page.locator('h1').innerText()).toBe('Plan of nursery');
    expect(await page.locator('table.static tbody tr').count()).toBe(4);
    const ball = await page.locator('table.static tbody tr').nth(1).innerText();
    expect(ball).toMatch(/update\s+Toy\/acme\/ball\s+live differs from the manifest\s+colour red → blue/);
    expect(await page.locator('body').innerText()).toContain('3 guards block'.replace('3', '2'));
  });

  it('is filtered by action, kind, target and text, all together', async () => {
    const { page } = await openReport(manySamples(30));
    await chip(page, 'update').click();
    expect(await statusText(page)).toBe('15 of 30 changes');
    await chip(page, 'delete').click();
    expect(await statusText(page)).toBe('22 of 30 changes');
    await field(page, 'Kind').selectOption('Child');
    await field(page, 'Target').selectOption('box-0');
    expect(await names(page)).toEqual(['toy-15']);
    await field(page, 'Text').fill('no such words');
    expect(await statusText(page)).toBe('No change matches these filters');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    expect(await statusText(page)).toBe('30 changes');
    await field(page, 'Text').fill('BLUE toys-7.yaml');
    expect(await names(page)).toEqual(['toy-7']);
  });

  it('can be used with the keyboard alone', async () => {
    const { page } = await openReport(fullPlan);
    await page.keyboard.press('Tab');
    expect(await hasFocus(page.getByText('Skip to the report'))).toBe(true);
    await field(page, 'Text').focus();
    await page.keyboard.type('kite');
    for (let left = 12; left > 0 && !(await hasFocus(page.locator('.opener').first())); left -= 1)
      await page.keyboard.press('Tab');
    const details = page.locator('.details').first();
    expect(await details.isVisible()).toBe(true);
    await page.keyboard.press('Enter');
    expect(await details.isVisible()).toBe(false);
    await page.keyboard.press('Enter');
    expect(await details.isVisible()).toBe(true);
  });

  it('is not wider than a phone', async () => {
    const long = 'x'.repeat(300);
    const { page } = await openReport(
      { ...fullPlan, notices: [{ address: { kind: 'Toy', target: 'acme', name: long }, message: long }] },
      phone,
    );
    for (const calls of await page.locator('.calls summary').all()) await calls.click();
    expect(await isWiderThanScreen(page)).toBe(false);
  });

  it('says that nothing can be applied while there are problems, each with its line', async () => {
    const { page } = await openReport({
      ...fullPlan,
      problems: [problem({ place: place(), fix: 'write "adopt: true"' })],
    });
    expect(await page.locator('.head').innerText()).toContain('1 problem forbids applying');
    expect(await page.locator('.head').innerText()).toContain(
      'Nothing can be applied until the problems are solved',
    );
    expect(await page.locator('#problems').innerText()).toMatch(
      /error not-ours toys.yaml:4:9\s+Toy ball exists/,
    );
    expect(await page.locator('#risks').innerText()).not.toContain('--ack');
  });

  it('never says that there is nothing to do when the read was incomplete', async () => {
    const { page } = await openReport(plan({ coverage: { ...plan().coverage, complete: false } }));
    const text = await page.locator('body').innerText();
    expect(text).toContain('The read was incomplete');
    expect(text).not.toMatch(/No changes|nothing to apply/);
  });

  it('says so if the plan has no changes', async () => {
    const { page } = await openReport(plan());
    expect(await page.locator('.head').innerText()).toContain('No changes, 3 unchanged');
  });

  it('reports the problems of a command that made no plan', async () => {
    const { page } = await openPage();
    await showHtml(page, renderDiagnosticsHtml([problem({ place: place() })], 'Nothing was found'));
    expect(await page.locator('body').innerText()).toMatch(
      /No plan could be made\s+1 error\s+Problems\s+error not-ours/,
    );
  });
});

describeInBrowser('the page of 5,000 changes', () => {
  it('has at most 200 rows at a time, even with all details open, and all changes can be reached', async () => {
    const { page } = await openReport(manySamples(5000));
    expect(await rows(page).count()).toBe(100);
    await page.getByRole('button', { name: 'Open all' }).click();
    expect(await page.locator('[role=row]').count()).toBeLessThanOrEqual(200);
    expect(await page.locator('.pager').first().innerText()).toContain('1–100 of 5,000');
    for (const press of ['Next', 'Next', 'Previous'])
      await page.getByRole('button', { name: press }).last().click();
    expect(await page.locator('.pager').first().innerText()).toContain('101–200 of 5,000');
    await field(page, 'Text').fill('toy-4999');
    expect(await names(page)).toEqual(['toy-4999']);
    expect(await page.locator('.details').innerText()).toMatch(/colour\s+red → blue 4999/);
  });

  it('lists only some of its risks, and leads to the others', async () => {
    const { page } = await openReport(manySamples(5000));
    const risks = page.locator('#risks');
    expect(await risks.locator('li').count()).toBe(10);
    await risks.getByRole('button', { name: 'Show all 1,250 in the table' }).click();
    expect(await statusText(page)).toBe('1,250 of 5,000 changes');
  });

  it('prints all changes that pass the filters, and then shows one page of rows again', async () => {
    const { page } = await openReport(manySamples(5000));
    await chip(page, 'delete').click();
    await page.emulateMedia({ media: 'print' });
    await rows(page).nth(1249).waitFor({ state: 'attached', timeout: 60_000 });
    expect(await rows(page).count()).toBe(1250);
    expect(await page.locator('.details').filter({ visible: true }).count()).toBe(1250);
    expect(await page.locator('.filters, .pager, .graph-tools').filter({ visible: true }).count()).toBe(0);
    await page.emulateMedia({ media: 'screen' });
    await rows(page).nth(100).waitFor({ state: 'detached', timeout: 60_000 });
    expect(await rows(page).count()).toBe(100);
  });
});
