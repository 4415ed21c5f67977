// The console of a fleet with 5,000 stacks in a real browser: it is accessible, at any width and without scripts.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, openPage } from '../support/browser/chromium.ts';
import { openConsole } from '../support/fleet/console.ts';
import { openFleetDatabase } from '../support/fleet/database.ts';
import { client, openIssuer } from '../support/fleet/issuer.ts';
import { seedFleet } from '../support/fleet/seed-console.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../support/ledger/postgres-server.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const bin = findPostgres();
let server: PostgresServer | undefined;
beforeAll(() => {
  if (bin !== undefined) server = startPostgres(bin);
});
afterAll(() => server?.stop());

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const found = await page.evaluate<
    readonly { id: string; nodes: readonly { html: string; failureSummary: string }[] }[]
  >('axe.run().then(({ violations }) => violations)');
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`),
  );
}

const stack = '/stack?repository=data&path=teams%2Fteam-0%2Fstack-0000%2Ftrueup.yaml';
const paths = [
  ...['/', '/?is=attention&text=stack-00&page=2', '/?apply=waits', stack],
  ...['/activity', '/activity?event=apply', '/access', '/capacity', '/health'],
];

async function openFleetPage(options: BrowserContextOptions, stacks = 5000) {
  const database = await openFleetDatabase(server);
  await seedFleet(database.client, stacks);
  const { url } = await openConsole(database.address);
  const { page } = await openPage(options, url);
  const { rows } = await database.client.query(
    `select repository, path from trueup_fleet.waiting_applies where because = 'retry'
       and (repository, path) in (select repository, path from trueup_fleet.applies) order by 1, 2 limit 1`,
  );
  return { page, url, applied: `/stack?${new URLSearchParams(rows[0])}` };
}

describeInBrowser('the console of a fleet', () => {
  it.skipIf(bin === undefined).each([
    ['light', 1280],
    ['dark', 390],
    ['light', 390],
    ['dark', 1680],
  ] as const)(
    'has no violation of axe in %s colors at %i px, and is not wider than the screen',
    async (colorScheme, width) => {
      const { page, url, applied } = await openFleetPage({ colorScheme, viewport: { width, height: 900 } });
      // This stack has all that the page of a stack can show about applies.
      await page.goto(`${url}/?apply=retry`);
      await page.locator(`.stack-name a[href="${applied}"]`).click();
      expect(await page.locator('.banner.warning').textContent()).toContain(
        'The apply waits for its next try',
      );
      expect(await page.locator('h2').allTextContents()).toContain('Applies');
      for (const path of [...paths, applied]) {
        await page.goto(url + path);
        expect(await violations(page), path).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBe(width);
      }
      const background = await page.evaluate('getComputedStyle(document.body).backgroundColor');
      expect(background).toBe(colorScheme === 'dark' ? 'rgb(15, 19, 23)' : 'rgb(246, 247, 249)');
    },
    120_000,
  );

  it.skipIf(bin === undefined)('can be used with the keyboard alone, and without scripts', async () => {
    const { page, url } = await openFleetPage({ viewport: { width: 1280, height: 900 } }, 200);
    await page.goto(url);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
    await page.keyboard.press('Enter');
    // The filters follow the header.
    await page.keyboard.press('Tab');
    await page.keyboard.type('stack-0003');
    await page.keyboard.press('Enter');
    await page.waitForURL(/text=stack-0003/);
    const names = await page.locator('.stack-name').allTextContents();
    expect(names).toHaveLength(5);
    expect(names.every((name) => name.endsWith('/stack-0003'))).toBe(true);
    await page.locator('.stack-name a').first().focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/stack\?/);
    expect(await page.locator('h1').textContent()).toContain('stack-0003');
    expect(await page.locator('nav [aria-current=page]').textContent()).toBe('Fleet');
    // One click selects the whole command.
    await page.locator('.command-text').first().click();
    expect(await page.evaluate('getSelection().toString()')).toMatch(
      /^trueup plan teams\/team-3\/stack-0003$/,
    );
    expect(await page.locator('script').count()).toBe(0);
  });

  it.skipIf(bin === undefined)(
    'signs users in and out without scripts, also after a form, and without a violation of axe',
    async () => {
      const database = await openFleetDatabase(server);
      await seedFleet(database.client, 200);
      const issuer = await openIssuer();
      issuer.claims = {
        sub: 'u-1',
        email: 'ann.of.a.rather.long.name@platform.example.com',
        groups: ['admins'],
      };
      const { url } = await openConsole(database.address, {
        env: { CLIENT_SECRET: client.secret, SESSION_KEY: 'key-of-sessions-0123456789-abcdef' },
        settings: (own) => ({
          teams: { all: { groups: ['admins'], stacks: ['**'] } },
          oidc: {
            ...{ issuer: issuer.url, url: own, clientId: client.id, clientSecret: { env: 'CLIENT_SECRET' } },
            sessionKey: { env: 'SESSION_KEY' },
          },
        }),
      });
      for (const [colorScheme, width] of [
        ['light', 1280],
        ['dark', 390],
      ] as const) {
        const options = { colorScheme, viewport: { width, height: 900 } };
        const { page } = await openPage(options, url, issuer.url);
        await page.goto(`${url}/activity?event=apply`);
        await page.waitForURL(`${url}/activity?event=apply`);
        expect(await page.locator('header .user').textContent()).toContain('ann.of.a.rather.long.name@');
        expect(await violations(page)).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
        // The session has ended when the form is sent. The way to the issuer must work, although no form may be sent there.
        await page.goto(url);
        await page.context().clearCookies();
        await page.locator('input[name=text]').fill('stack-0003');
        await page.keyboard.press('Enter');
        await page.waitForURL(/\/\?.*text=stack-0003/);
        expect(await page.locator('.stack-name').count()).toBe(5);
        await page.getByRole('button', { name: 'Sign out' }).click();
        await page.waitForURL(`${url}/signed-out`);
        expect(await violations(page)).toEqual([]);
        await page.getByRole('link', { name: 'Sign in' }).click();
        await page.waitForURL(`${url}/`);
      }
    },
  );
});
