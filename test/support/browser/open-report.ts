/** Reports in the browser: written to a file, opened from there, as a reviewer opens the artifact of a CI job. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import type { Plan } from '../../../src/model/plan.ts';
import { renderPlanHtml } from '../../../src/report/html/plan.ts';
import { temporaryFolder } from '../rig/temporary-folder.ts';
import { type OpenedPage, openPage } from './chromium.ts';

/** The entry file of the script of the page. */
export const pageScript = fileURLToPath(new URL('../../../src/report/html/page/main.ts', import.meta.url));

export async function openReport(plan: Plan, options?: BrowserContextOptions): Promise<OpenedPage> {
  const opened = await openPage(options);
  await showHtml(opened.page, renderPlanHtml(plan, { stack: 'stacks/toys' }));
  return opened;
}

export async function showHtml(page: Page, html: string): Promise<void> {
  const file = join(temporaryFolder(), 'report.html');
  writeFileSync(file, html);
  await page.goto(pathToFileURL(file).href);
}
