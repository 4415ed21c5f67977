/**
 * Makes addresses links to the pages of a service (OSC 8), if the terminal shows links and the address of the page is known. A pipe, a file
 * or the log of a CI job gets no links.
 */
import type { Address } from '../model/address.ts';
import type { Dialect, Target } from '../model/stack.ts';

/** The web pages of a run's targets, known once it connects. */
export class WebPages {
  readonly #pages = new Map<string, (name: string) => string>();

  /** Adds the pages of a target, if its dialect has any. */
  learn({ name, url, organization }: Target, { workspacePage: template }: Dialect): void {
    // Only services of tests have http addresses, and they have no pages.
    if (template === undefined || organization === undefined || !url.startsWith('https://')) return;
    const { origin } = new URL(url);
    this.#pages.set(name, (resource) => {
      const members: Readonly<Record<string, string>> = { organization, name: resource };
      return origin + template.replaceAll(/\{(\w+)\}/g, (_, member) => encoded(members[member] ?? ''));
    });
  }

  /** The page of a resource; for a child of a workspace, the page of the workspace. */
  pageOf({ target, name }: Address): string | undefined {
    return this.#pages.get(target)?.(name);
  }
}

/** The text as printable ASCII, so that no name can end the escape sequence. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** @param text without control characters. @param url of printable ASCII */
export function linked(text: string, url: string): string {
  return `\u001b]8;;${url}\u001b\\${text}\u001b]8;;\u001b\\`;
}

/** Terminals by TERM_PROGRAM, with the first version that shows links. */
const programs: Readonly<Record<string, readonly [major: number, minor: number]>> = {
  'iTerm.app': [3, 1],
  WezTerm: [20200620, 0],
  vscode: [1, 72],
  ghostty: [0, 0],
  zed: [0, 0],
  Tabby: [0, 0],
};

/** Whether the terminal shows links, as the package supports-hyperlinks decides it. FORCE_HYPERLINK overrides the rest. */
export function supportsLinks({ isTTY }: { readonly isTTY: boolean }, { env, isCi }: Surroundings): boolean {
  if (!isTTY || isCi || env['TERM'] === 'dumb') return false;
  const forced = env['FORCE_HYPERLINK'];
  if (forced !== undefined && forced !== '') return forced !== '0';
  if (env['WT_SESSION'] !== undefined) return true;
  const least = programs[env['TERM_PROGRAM'] ?? ''];
  if (least !== undefined) return isAtLeast(env['TERM_PROGRAM_VERSION'] ?? '', least);
  // VTE 0.50.0 crashes on links.
  const vte = Number(env['VTE_VERSION'] ?? 0);
  if (vte > 5000) return true;
  return /^(?:alacritty|xterm-kitty|xterm-ghostty|foot)\b/.test(env['TERM'] ?? '');
}

interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isCi: boolean;
}

function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [found = 0, below = 0] = version.split(/[.-]/).map(Number);
  return found > major || (found === major && below >= minor);
}
