/** Names of resources as links: where they are shown, and that no name breaks out of its escape sequence. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findDialect } from '../../src/api/dialects.ts';
import type { Dialect, Target } from '../../src/model/stack.ts';
import { linked, supportsLinks, WebPages } from '../../src/run/links.ts';

const target = {
  name: 'acme',
  service: 'workspaces',
  url: 'https://app.example.com',
  organization: 'acme-org',
  dialect: 'hcp-terraform',
} as Target;

function pagesOf(about: Partial<Target> = {}, dialect = 'hcp-terraform'): WebPages {
  const pages = new WebPages();
  pages.learn({ ...target, ...about }, findDialect('workspaces', dialect) as Dialect);
  return pages;
}

const address = (name: string) => ({ kind: 'Workspace', target: 'acme', name });

describe('the page of a workspace', () => {
  it('is known if the service has pages', () => {
    expect(pagesOf().pageOf(address('web'))).toBe('https://app.example.com/app/acme-org/workspaces/web');
    expect(pagesOf({}, 'neutral').pageOf(address('web'))).toBe(undefined);
    expect(pagesOf({ url: 'embedded' }).pageOf(address('web'))).toBe(undefined);
    expect(pagesOf({ url: 'http://127.0.0.1:8080' }).pageOf(address('web'))).toBe(undefined);
    expect(pagesOf().pageOf({ ...address('web'), target: 'other' })).toBe(undefined);
  });

  it('is printable ASCII for any name, organization and address', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\u001b\\', '\u0007', '\u009c', '\ud800'),
    );
    fc.assert(
      fc.property(text, text, (name, organization) => {
        const page = pagesOf({ organization }).pageOf(address(name)) ?? '';
        expect(page).toMatch(/^https:\/\/app\.example\.com\/app\/[\w%.~-]*\/workspaces\/[\w%.~-]*$/);
      }),
    );
  });

  it('is written as an escape sequence of terminals', () => {
    expect(linked('web', 'https://x')).toBe('\u001b]8;;https://x\u001b\\web\u001b]8;;\u001b\\');
  });
});

describe('links are shown', () => {
  const shows = (env: Record<string, string>, isTTY = true, isCi = false) =>
    supportsLinks({ isTTY }, { env, isCi });

  it.each([
    [{ VTE_VERSION: '6003' }, true],
    [{ VTE_VERSION: '5000' }, false],
    [{ TERM_PROGRAM: 'iTerm.app', TERM_PROGRAM_VERSION: '3.4.1' }, true],
    [{ TERM_PROGRAM: 'iTerm.app', TERM_PROGRAM_VERSION: '3.0.15' }, false],
    [{ TERM_PROGRAM: 'vscode', TERM_PROGRAM_VERSION: '1.95.0' }, true],
    [{ TERM_PROGRAM: 'Apple_Terminal', TERM_PROGRAM_VERSION: '455' }, false],
    [{ TERM: 'xterm-kitty' }, true],
    [{ TERM: 'xterm-256color' }, false],
    [{ WT_SESSION: 'x' }, true],
    [{ FORCE_HYPERLINK: '1' }, true],
    [{ FORCE_HYPERLINK: '0', VTE_VERSION: '6003' }, false],
    [{ TERM: 'dumb', FORCE_HYPERLINK: '1' }, false],
  ])('by a terminal that supports them: %o is %s', (env, isShown) => {
    expect(shows(env)).toBe(isShown);
  });

  it('never in a pipe, a file or the log of a CI job', () => {
    expect(shows({ FORCE_HYPERLINK: '1' }, false)).toBe(false);
    expect(shows({ FORCE_HYPERLINK: '1' }, true, true)).toBe(false);
  });
});
