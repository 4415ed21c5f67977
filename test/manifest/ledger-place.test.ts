import { describe, expect, it } from 'vitest';
import { plainStack, readOne, formatDiagnostics } from '../support/manifest/manifest-folder.ts';

const parentManifest = 'apiVersion: trueup.dev/v1\nkind: Parent\nmetadata: { name: app }\nspec: {}\n';
const read = (ledger: string) => readOne(parentManifest, `${plainStack}  ledger: ${ledger}\n`);

describe('the place of the ledger in a stack', () => {
  it.each([
    ['local', { in: 'local' }],
    ['{ local: { folder: state/ledger } }', { in: 'local', folder: 'state/ledger' }],
    ['git', { in: 'git', remote: 'origin' }],
    ['{ git: {} }', { in: 'git', remote: 'origin' }],
    ['{ git: { remote: upstream } }', { in: 'git', remote: 'upstream' }],
    ['postgres', { in: 'postgres', url: { env: 'TRUEUP_LEDGER_URL' } }],
    ['{ postgres: { url: { env: LEDGER } } }', { in: 'postgres', url: { env: 'LEDGER' } }],
    ['{ postgres: { url: { file: /run/url } } }', { in: 'postgres', url: { file: '/run/url' } }],
  ])('may be %s', async (text, place) => {
    const { stack, diagnostics } = await read(text);
    expect(diagnostics).toEqual([]);
    expect(stack?.ledger).toEqual(place);
  });

  it('is beside the stack if it is not declared', async () => {
    expect((await readOne(parentManifest)).stack).not.toHaveProperty('ledger');
  });

  it.each([
    ['redis', ['9:11+5', 'spec.ledger', '"local", "git" or "postgres"']],
    ['5', ['9:11+1', 'wrong-type', 'spec.ledger']],
    ['{}', ['9:3+6', 'spec.ledger']],
    ['{ local: {} }', ['missing-field', 'spec.ledger.local.folder']],
    [
      '{ local: { folder: ../elsewhere } }',
      ['spec.ledger.local.folder', 'a folder beside or below this file'],
    ],
    ['{ local: { folder: /tmp } }', ['spec.ledger.local.folder', 'a folder beside or below this file']],
    ['{ git: {}, postgres: { url: { env: A } } }', ['9:3+6', 'spec.ledger']],
    ['{ gti: {} }', ['9:13+3', 'unknown-field', 'git']],
    [
      '{ git: { remote: "https://me:pw@example.com/x.git" } }',
      ['9:28', 'the name of a remote such as origin'],
    ],
    ['{ postgres: {} }', ['9:', 'missing-field', 'spec.ledger.postgres.url']],
    ['{ postgres: { url: {} } }', ['9:', 'spec.ledger.postgres.url']],
  ])('is reported if it is %s', async (text, parts) => {
    const messages = formatDiagnostics((await read(text)).diagnostics).join('\n');
    for (const part of parts) expect(messages).toContain(part);
  });

  it.each([
    '{ postgres: { url: "postgres://me:planted@db/trueup" } }',
    '{ postgres: { url: "host=db password=planted" } }',
    '{ postgres: { url: { env: "password=planted" } } }',
  ])('is reported without a secret that it wrongly contains: %s', async (text) => {
    const { diagnostics } = await read(text);
    expect(diagnostics).not.toEqual([]);
    expect(JSON.stringify(diagnostics)).not.toContain('planted');
  });
});
