// Hostile names, values and messages of services: a report shows them as text, and never runs or loads anything.
import fc from 'fast-check';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { Plan } from '../../src/model/plan.ts';
import { printable } from '../../src/report/view/printable.ts';
import { renderDiagnosticsHtml } from '../../src/report/html/diagnostics.ts';
import { renderPlanHtml } from '../../src/report/html/plan.ts';
import { describeInBrowser, type OpenedPage, openPage } from '../support/browser/chromium.ts';
import { showHtml } from '../support/browser/open-report.ts';
import { anyDiagnostic, anyPlan } from '../support/report/arbitrary-plan.ts';
import { htmlAttack } from '../support/report/html-attacks.ts';
import { planOf } from '../support/report/markdown-attacks.ts';
import { fullPlan } from '../support/report/sample-plans.ts';

/** Each element with its attributes, and with the values of attributes that can load or run something. */
const inventory = `[...document.querySelectorAll('*')].map((element) => [
  element.localName,
  ...[...element.attributes].map(({ name, value }) =>
    /^(?:href|src|srcdoc|style|action|formaction|on.*)$/.test(name) ? name + '=' + value : name,
  ),
].join(' '))`;

/** All elements that reports use. */
const ownTags = new Set(
  [
    'html head meta link title style body noscript script header main nav section div h1 h2 h3 p a ul li dl dt dd strong span code bdi',
    'pre ins del button label input select option details summary svg defs marker path g rect text',
  ]
    .join(' ')
    .split(' '),
);

/** Links within the page, and the height of the graph. */
const ownValues = /^(?:href=(?:#[\w-]+|data:,)|style=--graph-height: \d+px;)$/;

async function openAll(page: Page): Promise<void> {
  await page.evaluate(`for (const press of [...document.querySelectorAll('.table-tools > button, .chip')])
      if (press.textContent !== 'Close all') press.click();
    for (const chip of document.querySelectorAll('.chip')) chip.click();
    for (const folded of document.querySelectorAll('details')) folded.open = true;
    document.querySelector('.node')?.dispatchEvent(new MouseEvent('click', { bubbles: true }));`);
}

/** The visible text of the page. */
const wordsOf = (page: Page) => page.evaluate<string>('document.body.innerText');

const unprintable = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

async function expectHarmless({ page, incidents }: OpenedPage): Promise<void> {
  await openAll(page);
  const foreign = (await page.evaluate<string[]>(inventory)).filter((part) => {
    const [tag = '', ...attributes] = part.split(/ (?=[\w-]+(?:=|$| ))/);
    const active = attributes.filter((attribute) => attribute.includes('='));
    return !ownTags.has(tag) || active.some((attribute) => !ownValues.test(attribute));
  });
  expect(foreign).toEqual([]);
  expect(await wordsOf(page)).not.toMatch(unprintable);
  expect(incidents).toEqual([]);
}

/** The texts of a plan that the page must show unchanged: names, reasons, messages. */
function textsOf({ stack, changes, notices }: Plan): string[] {
  return [
    stack,
    ...changes.flatMap(({ address, reason, notes }) => [address.name, reason, ...notes]),
    ...notices.flatMap(({ message }) => [message]),
  ].map(printable);
}

/** Without white space, which a page collapses, and without quotes, which the page shows as code. */
const squeezed = (text: string) => text.replace(/["\s]/g, '');

describeInBrowser('a report shows texts from outside only as text', () => {
  it('for any text in a plan', { timeout: 240_000 }, async () => {
    const opened = await openPage();
    await fc.assert(
      fc.asyncProperty(fc.oneof(planOf(htmlAttack), anyPlan), async (any) => {
        await showHtml(opened.page, renderPlanHtml(any, { stack: any.stack }));
        await expectHarmless(opened);
        const shown = squeezed(
          await opened.page.evaluate<string>(
            "[...document.querySelectorAll('header, main')].map((part) => part.textContent).join(' ')",
          ),
        );
        const missing = textsOf(any).filter((text) => !shown.includes(squeezed(text)));
        expect(missing).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });

  it('for any text in a problem', async () => {
    const opened = await openPage();
    await fc.assert(
      fc.asyncProperty(fc.array(anyDiagnostic, { maxLength: 4 }), htmlAttack, async (problems, summary) => {
        await showHtml(opened.page, renderDiagnosticsHtml(problems, summary));
        await expectHarmless(opened);
      }),
      { numRuns: 10 },
    );
  });

  it('and its content security policy blocks other scripts, styles and images', async () => {
    const { page, incidents } = await openPage();
    const html = renderPlanHtml(fullPlan).replace(
      '</body>',
      '<script>document.title = "ran"</script><style>body { display: none }</style><img src="https://e.vil/x.png"></body>',
    );
    await showHtml(page, html);
    expect(await page.title()).toBe('Plan of nursery');
    expect(await page.locator('body').isVisible()).toBe(true);
    await expect
      .poll(() => incidents.filter((text) => text.includes('Content Security Policy')).length)
      .toBe(3);
    (incidents as string[]).length = 0;
  });
});
