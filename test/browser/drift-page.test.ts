// The page of a drift in a real browser.
import { expect, it } from 'vitest';
import { renderDriftHtml } from '../../src/report/html/drift.ts';
import { describeInBrowser, openPage } from '../support/browser/chromium.ts';
import { showHtml } from '../support/browser/open-report.ts';
import { now, smallDrift } from '../support/report/sample-drift.ts';

describeInBrowser('the page of a drift', () => {
  it('shows counts and who modified a resource, and filters by what is gone', async () => {
    const { page } = await openPage();
    await showHtml(page, renderDriftHtml(smallDrift, { now }));
    expect(await page.title()).toBe('Drift of nursery');
    expect(await page.locator('h1, h2').allTextContents()).toEqual([
      ...['Drift of nursery', 'Next steps', 'Changed since the last apply', 'Drift not known', 'Checked'],
    ]);
    expect((await page.locator('.tiles').innerText()).replaceAll(/\s+/g, ' ')).toBe(
      '1 ~ changed 1 - gone 1 * recreated 1 ~ unmanaged 1 ~ name 2 + pending 5 = as last applied',
    );
    expect(await page.locator('.rows [role=row]').first().innerText()).toMatch(
      /modified 2 h ago by user-1 \(ann\), toy update/,
    );
    await page.getByRole('button', { name: '- gone 1' }).click();
    expect(await page.locator('.rows .opener').allTextContents()).toEqual(['old']);
  });

  it('is not wider than a phone', async () => {
    const { page } = await openPage({ viewport: { width: 390, height: 844 } });
    await showHtml(page, renderDriftHtml(smallDrift, { now }));
    const isWider = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
    expect(await page.evaluate(isWider)).toBe(false);
  });
});
