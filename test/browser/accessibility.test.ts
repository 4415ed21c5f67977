// Reports are accessible: axe finds no violation, in light and in dark colors.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { describeInBrowser, openPage } from '../support/browser/chromium.ts';
import { openReport, showHtml } from '../support/browser/open-report.ts';
import { renderDiagnosticsHtml } from '../../src/report/html/diagnostics.ts';
import { place, problem } from '../support/report/small-plan.ts';
import { fullPlan, manySamples } from '../support/report/sample-plans.ts';
import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Finding {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** All violations that axe finds, best practices included, each with its element. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const found = await page.evaluate<readonly Finding[]>('axe.run().then(({ violations }) => violations)');
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`),
  );
}

describeInBrowser('axe finds no violation in a report', () => {
  it.each(['light', 'dark'] as const)('in %s colors, with all details open', async (colorScheme) => {
    const { page } = await openReport(
      {
        ...fullPlan,
        problems: [problem({ place: place(), fix: 'write it' })],
        coverage: { ...fullPlan.coverage, complete: false },
      },
      { colorScheme },
    );
    for (const summary of await page.locator('summary').all()) await summary.click();
    await page.locator('.chip').first().click();
    await page.locator('.node').first().click();
    expect(await violations(page)).toEqual([]);
  });

  it.each(['light', 'dark'] as const)(
    'in %s colors on a phone, with more changes than fit on a page',
    async (colorScheme) => {
      const { page } = await openReport(manySamples(600), {
        colorScheme,
        viewport: { width: 390, height: 844 },
      });
      expect(await violations(page)).toEqual([]);
    },
  );

  it('when there is no plan', async () => {
    const { page } = await openPage();
    await showHtml(page, renderDiagnosticsHtml([problem({ place: place() })], 'Nothing was found'));
    expect(await violations(page)).toEqual([]);
  });
});
