/**
 * The browser that tests open reports in: the Chromium of the machine, driven by playwright-core. Without it the tests are skipped, with a
 * warning; with TRUEUP_REQUIRE_CHROMIUM=1 they fail instead.
 */
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, describe, expect, onTestFinished } from 'vitest';

const program = '/usr/bin/chromium';
const isRequired = process.env['TRUEUP_REQUIRE_CHROMIUM'] === '1';
const isMissing = !existsSync(program);

/** No sandbox, because tests may run as root, and no background requests to the network. */
const flags = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
  ...['--disable-background-networking', '--disable-component-update'],
];

let browser: Promise<Browser> | undefined;

/** Like `describe`, for tests in a browser: skipped if there is no Chromium and none is required. */
export function describeInBrowser(title: string, tests: () => void): void {
  const isSkipped = isMissing && !isRequired;
  // The list of tests does not show the titles of files of which all tests are skipped.
  if (isSkipped) console.warn(`SKIPPED, for there is no ${program}: ${title}`);
  describe.skipIf(isSkipped)(title, () => {
    afterAll(async () => {
      await (await browser)?.close();
      browser = undefined;
    });
    tests();
  });
}

export interface OpenedPage {
  readonly page: Page;
  /** what no report may cause: dialogs, errors, console messages, further requests; oldest first */
  readonly incidents: readonly string[];
}

/**
 * Opens a new page. At the end of the test it is closed, and the test fails if the page had an incident.
 * @param options such as screen size and theme; @param servers origins that the page may send requests to
 */
export async function openPage(
  options: BrowserContextOptions = {},
  ...servers: readonly string[]
): Promise<OpenedPage> {
  if (isMissing) throw new Error(`TRUEUP_REQUIRE_CHROMIUM=1, but there is no ${program}`);
  browser ??= chromium.launch({ executablePath: program, headless: true, args: flags });
  const context = await (await browser).newContext(options);
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  const incidents: string[] = [];
  page.on('dialog', (dialog) => {
    incidents.push(`dialog: ${dialog.message()}`);
    dialog.dismiss().catch(() => {});
  });
  page.on('console', (message) => incidents.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => incidents.push(`error: ${error.message}`));
  page.on('popup', () => incidents.push('popup'));
  page.on('request', (request) => {
    const isOfServer = servers.includes(new URL(request.url()).origin);
    const isItself = isOfServer || (request.isNavigationRequest() && request.url().startsWith('file:'));
    if (!isItself && !request.url().startsWith('data:')) incidents.push(`request: ${request.url()}`);
  });
  onTestFinished(async () => {
    await context.close();
    expect(incidents).toEqual([]);
  });
  return { page, incidents };
}
