// A faulty generator breaks every manifest at once: the report stays readable, and is printed soon.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const stackText = `apiVersion: trueup.dev/v1
kind: Stack
metadata: { name: payments }
spec:
  manifests: [all.yaml]
  targets: [{ name: acme, service: workspaces, url: embedded, organization: acme }]
`;

async function stackOf(documents: readonly string[]): Promise<string> {
  const folder = temporaryFolder();
  await writeFile(join(folder, 'trueup.yaml'), stackText);
  await writeFile(join(folder, 'all.yaml'), documents.map((document) => `---\n${document}\n`).join(''));
  return folder;
}

const times = (count: number, document: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => document(index));

function shownIn(text: string): string[] {
  return [...text.matchAll(/^(?:error|warning)\[([\w-]+)\]/gm)].map(([, code = '']) => code);
}

it('up to a hundred problems are shown, and the rest are counted', async () => {
  const broken = (index: number) => `kind: Workspace\nname: "never closed ${index}`;
  const hundred = await trueup(['validate'], { cwd: await stackOf(times(100, broken)) });
  expect(shownIn(hundred.err)).toHaveLength(100);
  expect(hundred.err).toMatch(/\n\n100 errors in 1 file\n$/);
  expect(hundred.err).not.toContain('more');

  // A search through the whole text for each problem would take minutes.
  const header = `# ${'a long licence, '.repeat(300_000)}`;
  const more = await trueup(['validate'], { cwd: await stackOf([header, ...times(20_000, broken)]) });
  expect(more.code).toBe(7);
  expect(shownIn(more.err)).toHaveLength(100);
  expect(more.err.slice(-120)).toMatch(
    /\n\nand 19900 more, which "--format json" shows\n\n20000 errors in 1 file\n$/,
  );
});

it('JSON contains all problems, however many there are', async () => {
  const cwd = await stackOf(times(150, (index) => `kind: Nothing${index}`));
  const { code, out } = await trueup(['validate', '--format', 'json'], { cwd });
  const { summary, diagnostics } = JSON.parse(out);
  expect({ code, ...summary }).toEqual({ code: 7, errors: diagnostics.length, warnings: 0, files: 1 });
  expect(diagnostics.length).toBeGreaterThanOrEqual(150);
});
