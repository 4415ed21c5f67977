import { describe, expect, it } from 'vitest';
import { plainStack, readOne, formatDiagnostics } from '../support/manifest/manifest-folder.ts';

const head = 'apiVersion: trueup.dev/v1\nkind: Parent\nmetadata: { name: app }\n';

/** The diagnostics of one manifest, without the name of its file. */
async function messagesFor(manifest: string): Promise<string[]> {
  const { diagnostics } = await readOne(manifest);
  return formatDiagnostics(diagnostics).map((line) => line.replaceAll('manifests/a.yaml:', ''));
}

const spec = (text: string) => messagesFor(`${head}spec:\n${text}`);

describe('an unknown field', () => {
  it('has a suggestion if it is misspelt', async () => {
    expect(await spec('  runMod: remote\n')).toEqual([
      '5:3+6 unknown-field: there is no field "runMod" in "spec" | fix: did you mean "runMode"?',
    ]);
  });

  it('has a suggestion if it is written like in the documentation of the API', async () => {
    expect(await spec('  run-mode: remote\n  auto_apply: true\n')).toEqual([
      '5:3+8 unknown-field: there is no field "run-mode" in "spec" | fix: write "runMode": fields have the API\'s names in camelCase',
      '6:3+10 unknown-field: there is no field "auto_apply" in "spec" | fix: write "autoApply": fields have the API\'s names in camelCase',
    ]);
  });

  it('has a suggestion if it is in the wrong section, and is reported once', async () => {
    expect(
      await messagesFor('apiVersion: trueup.dev/v1\nkind: Parent\nname: app\nrunMode: remote\n'),
    ).toEqual([
      '3:1+4 unknown-field: there is no field "name" at the top level | allowed "apiVersion", "kind", "metadata" or "spec" | fix: move "name" under "metadata"',
      '4:1+7 unknown-field: there is no field "runMode" at the top level | allowed "apiVersion", "kind", "metadata" or "spec" | fix: move "runMode" under "spec"',
    ]);
    expect(await spec('  target: acme\n  adopt: true\n')).toEqual([
      '5:3+6 unknown-field: there is no field "target" in "spec" | fix: move "target" under "metadata"',
      '6:3+5 unknown-field: there is no field "adopt" in "spec" | fix: move "adopt" under "metadata"',
    ]);
  });

  it('has the allowed fields if it is similar to none', async () => {
    expect(await spec('  repo: { identifier: a, zzz: 1 }\n')).toEqual([
      '5:26+3 unknown-field: there is no field "zzz" in "spec.repo" | allowed "identifier" or "branch"',
    ]);
  });

  it('is reported without the required field that it misspells', async () => {
    expect(await spec('  repo: { identifer: a }\n')).toEqual([
      '5:11+9 unknown-field: there is no field "identifer" in "spec.repo" | allowed "identifier" or "branch" | fix: did you mean "identifier"?',
    ]);
  });
});

describe('a missing field', () => {
  it('is reported at the map that should contain it', async () => {
    expect(await messagesFor('kind: Parent\nmetadata: {}\n')).toEqual([
      '1:1+4 missing-field: "apiVersion" is missing | allowed "trueup.dev/v1" | fix: add "apiVersion: trueup.dev/v1"',
      '1:1+4 missing-field: "spec" is missing | fix: add "spec"',
      '2:1+8 missing-field: "metadata.name" is missing | allowed text | fix: add "name"',
    ]);
    expect(await spec('  repo: {}\n')).toEqual([
      '5:3+4 missing-field: "spec.repo.identifier" is missing | allowed text | fix: add "identifier"',
    ]);
  });
});

describe('a value of the wrong type', () => {
  it.each([
    [
      'engineVersion: 1.10',
      '18+4',
      '"spec.engineVersion" has the wrong type | found the number 1.10 | allowed text | fix: put it in quotes: \'1.10\'',
    ],
    [
      'engineVersion: true',
      '18+4',
      '"spec.engineVersion" has the wrong type | found true | allowed text | fix: put it in quotes: \'true\'',
    ],
    [
      'autoApply: yes',
      '14+3',
      '"spec.autoApply" has the wrong type | found the text "yes" | allowed true, false or null | fix: write true, without quotes',
    ],
    [
      'autoApply: "False"',
      '14+7',
      '"spec.autoApply" has the wrong type | found the text "False" | allowed true, false or null | fix: write false, without quotes',
    ],
    [
      'workers: "3"',
      '12+3',
      '"spec.workers" has the wrong type | found the text "3" | allowed a whole number or null | fix: write 3, without quotes',
    ],
    [
      'workers: 1.5',
      '12+3',
      '"spec.workers" has the wrong type | found the number 1.5 | allowed a whole number or null',
    ],
    [
      'paths: a/b',
      '10+3',
      '"spec.paths" has the wrong type | found the text "a/b" | allowed a list of text or null | fix: write a list: [a/b]',
    ],
    [
      'paths: "*"',
      '10+3',
      '"spec.paths" has the wrong type | found the text "*" | allowed a list of text or null | fix: write a list: [\'*\']',
    ],
    [
      'paths: "{x}"',
      '10+5',
      '"spec.paths" has the wrong type | found the text "{x}" | allowed a list of text or null | fix: write a list: [\'{x}\']',
    ],
    [
      'paths: "a: b"',
      '10+6',
      '"spec.paths" has the wrong type | found the text "a: b" | allowed a list of text or null | fix: write a list: [\'a: b\']',
    ],
    [
      'paths: a/b, *',
      '10+6',
      '"spec.paths" has the wrong type | found the text "a/b, *" | allowed a list of text or null | fix: write a list: [a/b, \'*\']',
    ],
    [
      'paths: 1.10',
      '10+4',
      '"spec.paths" has the wrong type | found the number 1.10 | allowed a list of text or null | fix: write a list: [\'1.10\']',
    ],
    [
      'repo: acme/network',
      '9+12',
      '"spec.repo" has the wrong type | found the text "acme/network" | allowed a map or null',
    ],
    ['tags: [a]', '9+3', '"spec.tags" has the wrong type | found a list | allowed a map or null'],
    [
      'description: [one]',
      '16+5',
      '"spec.description" has the wrong type | found a list | allowed text or null | fix: write it without a list',
    ],
    [
      'tags: { on: true }',
      '15+4',
      '"spec.tags.on" has the wrong type | found true | allowed text | fix: put it in quotes: \'true\'',
    ],
    [
      'source: 3',
      '11+1',
      '"spec.source" has the wrong type | found the number 3 | allowed a map or a list of text',
    ],
  ])('%s', async (line, place, message) => {
    expect(await spec(`  ${line}\n`)).toEqual([`5:${place} wrong-type: ${message}`]);
  });

  it('is reported for the one alternative that it resembles', async () => {
    expect(await spec('  source: { gitt: x }\n')).toEqual([
      '5:13+4 unknown-field: there is no field "gitt" in "spec.source" | allowed "git" or "ref" | fix: did you mean "git"?',
    ]);
    expect(await spec('  source: [a, 2]\n')).toEqual([
      '5:15+1 wrong-type: "spec.source[1]" has the wrong type | found the number 2 | allowed text | fix: put it in quotes: \'2\'',
    ]);
  });

  it('is reported for whole documents, too', async () => {
    expect(await messagesFor('- a\n- b\n')).toEqual([
      '1:1+3 wrong-type: a document must be a map with "apiVersion", "kind", "metadata" and "spec" | found a list',
    ]);
    expect(await messagesFor('just text\n')).toEqual([
      '1:1+9 wrong-type: a document must be a map with "apiVersion", "kind", "metadata" and "spec" | found the text "just text"',
    ]);
    expect(await messagesFor(`${head}spec:\n`)).toEqual([
      '4:1+4 wrong-type: "spec" has no value | found nothing | allowed a map | fix: write "spec: {}", or give it fields',
    ]);
  });
});

describe('null', () => {
  it('is explained for a field without a default', async () => {
    expect(await spec('  engineVersion: null\n  projectId:\n  repo: { identifier: a, branch: ~ }\n')).toEqual(
      [
        '5:18+4 no-default: "spec.engineVersion" has no default, so null means nothing | found null | fix: give it a value, or leave "engineVersion" out, which means "not managed"',
        '6:3+9 no-default: "spec.projectId" has no default, so null means nothing | found null | fix: give it a value, or leave "projectId" out, which means "not managed"',
        '7:34+1 no-default: "spec.repo.branch" has no default, so null means nothing | found null | fix: give it a value, or leave "branch" out, which means "not managed"',
      ],
    );
  });

  it('has no hint about "not managed" in a kind that is always replaced as a whole', async () => {
    expect(
      await messagesFor(
        'apiVersion: trueup.dev/v1\nkind: Settings\nmetadata: { name: main }\nspec: { host: null }\n',
      ),
    ).toEqual([
      '4:15+4 no-default: "spec.host" has no default, so null means nothing | found null | fix: give it a value, or leave "host" out',
    ]);
  });

  it('is fine for a field with a default', async () => {
    expect(await spec('  description: null\n  runMode: ~\n  repo:\n')).toEqual([]);
  });
});

describe('a value that is not allowed', () => {
  it.each([
    [
      'runMode: remot',
      '12+5 not-allowed: "spec.runMode" cannot have this value | found the text "remot" | allowed "remote", "local", "agent" or null | fix: did you mean "remote"?',
    ],
    [
      'workers: 99',
      '12+2 out-of-range: "spec.workers" is out of range | found the number 99 | allowed at most 8',
    ],
    [
      'workers: 0',
      '12+1 out-of-range: "spec.workers" is out of range | found the number 0 | allowed at least 1',
    ],
    [
      `description: ${'a'.repeat(42)}`,
      '16+42 too-long: "spec.description" is too long | found 42 characters | allowed at most 20',
    ],
    ['engineVersion: ""', '18+2 empty: "spec.engineVersion" is empty | allowed at least 1 character'],
    [
      'projectId: prj 1',
      '14+5 pattern: "spec.projectId" is not well formed | found the text "prj 1" | allowed an id such as "prj-1" | fix: write "prj-1"',
    ],
    [
      'startsAt: soon',
      '13+4 pattern: "spec.startsAt" is not well formed | found the text "soon" | allowed a date and time with time zone, such as 2026-01-31T08:00:00Z',
    ],
    [
      'paths: [a, b, c, d]',
      '10+12 too-many: "spec.paths" has too many members | found 4 | allowed at most 3',
    ],
    [
      'paths: [a, b, a]',
      '17+1 repeated: "spec.paths[2]" repeats a member of "spec.paths" | found "a" | fix: remove it | first here 5:11',
    ],
    [
      'retention: {}',
      '3+9 too-few: "spec.retention" must have exactly one member | allowed "days" or "keep" | fix: add "days" or "keep"',
    ],
    [
      'retention: { days: 1, keep: true }',
      '3+9 too-many: "spec.retention" must have exactly one member | allowed "days" or "keep" | fix: keep one of them',
    ],
  ])('%s', async (line, message) => {
    expect(await spec(`  ${line}\n`)).toEqual([`5:${message}`]);
  });
});

describe('the header of a document', () => {
  it('needs a kind that exists', async () => {
    const kinds = '"Parent", "Labels", "Readers", "Role", "Settings" or "Stack"';
    expect(await messagesFor(head.replace('Parent', 'parent'))).toEqual([
      `2:7+6 unknown-kind: there is no such kind | found the text "parent" | allowed ${kinds} | fix: did you mean "Parent"?`,
    ]);
    expect(await messagesFor('apiVersion: v1\nmetadata: { name: app }\n')).toEqual([
      `1:1+10 missing-field: "kind" is missing | allowed ${kinds} | fix: add "kind"`,
      '1:13+2 not-allowed: "apiVersion" cannot have this value | found the text "v1" | allowed "trueup.dev/v1" | fix: write "trueup.dev/v1"',
    ]);
  });

  it('needs a version that exists', async () => {
    expect(await messagesFor(`${head.replace('dev/v1', 'dev/v2')}spec: {}\n`)).toEqual([
      '1:13+13 not-allowed: "apiVersion" cannot have this value | found the text "trueup.dev/v2" | allowed "trueup.dev/v1" | fix: write "trueup.dev/v1"',
    ]);
  });

  it('needs a name that the service accepts', async () => {
    expect(await messagesFor(`${head.replace('app', '"a b"')}spec: {}\n`)).toEqual([
      '3:19+5 pattern: "metadata.name" is not well formed | found the text "a b" | allowed letters, digits, "-" and "_", at most 20 | fix: write "a-b"',
    ]);
    expect(await messagesFor(`${head.replace('app', '123')}spec: {}\n`)).toEqual([
      '3:19+3 wrong-type: "metadata.name" has the wrong type | found the number 123 | allowed text | fix: put it in quotes: \'123\'',
    ]);
  });
});

describe('a removal request', () => {
  const removalRequest = (more: string) =>
    messagesFor(`apiVersion: trueup.dev/v1\nkind: Parent\nmetadata:\n  name: app\n  remove: safe\n${more}`);

  it('has no spec, and needs none', async () => {
    expect(await removalRequest('')).toEqual([]);
    expect(await removalRequest('spec: {}\n')).toEqual([
      '6:1+4 not-allowed: a document with "metadata.remove" is a removal request and has no "spec" | fix: remove "spec"',
    ]);
  });

  it('has no metadata that is only for declared resources', async () => {
    expect(await removalRequest('  protect: true\n')).toEqual([
      '6:3+7 contradiction: "metadata.protect" has no effect in a removal request | fix: remove "protect", or "remove" | removal is requested here 5:11',
    ]);
  });

  it('is either safe or force', async () => {
    expect(
      await messagesFor('apiVersion: trueup.dev/v1\nkind: Parent\nmetadata: { name: app, remove: forced }\n'),
    ).toEqual([
      '3:32+6 not-allowed: "metadata.remove" cannot have this value | found the text "forced" | allowed "safe" or "force" | fix: did you mean "force"?',
    ]);
  });
});

describe('a secret in a manifest', () => {
  const settings = (line: string) =>
    readOne(
      `apiVersion: trueup.dev/v1\nkind: Settings\nmetadata: { name: main }\nspec:\n  host: x\n  ${line}\n`,
    );

  it.each([
    [
      'authKey: planted',
      '6:3+7 literal-secret: "spec.authKey" must name the source of the secret, not hold it | allowed { env: … } or { file: … } | fix: put it in an environment variable and write { env: NAME }; if it was ever committed, replace it',
    ],
    [
      'auth_key: planted',
      '6:3+8 unknown-field: there is no field "auth_key" in "spec" | allowed "host" or "authKey" | fix: write "authKey": fields have the API\'s names in camelCase',
    ],
    [
      'autKey: planted',
      '6:3+6 unknown-field: there is no field "autKey" in "spec" | allowed "host" or "authKey" | fix: did you mean "authKey"?',
    ],
    [
      'authKey: { value: planted }',
      '6:14+5 unknown-field: there is no field "value" in "spec.authKey" | allowed "env", "file" or "version"',
    ],
    [
      'authKey: { env: x, version: planted }',
      '6:31+7 wrong-type: "spec.authKey.version" has the wrong type | allowed a whole number',
    ],
    ['authKey: [planted]', '6:12+9 wrong-type: "spec.authKey" has the wrong type | allowed a map or null'],
    ['authKey: "planted', '6:12+1 yaml-syntax: a quote is opened and never closed | fix: close it'],
  ])('is refused and never shown: %s', async (line, message) => {
    const { diagnostics } = await settings(line);
    expect(formatDiagnostics(diagnostics)).toEqual([`manifests/a.yaml:${message}`]);
    expect(JSON.stringify(diagnostics)).not.toContain('planted');
  });
});

describe('the mistakes of a manifest', () => {
  it('are all reported in one run, in reading order', async () => {
    const messages = await messagesFor(
      'apiVersion: trueup.dev/v1\nkind: Parent\nmetadata: { name: app, protct: true, target: acm }\nspec:\n  workers: many\n  runMode: x\n  repo: { branch: 1 }\n',
    );
    expect(messages.map((line) => line.split(': ')[0])).toEqual([
      '3:24+6 unknown-field',
      '3:46+3 unknown-target',
      '5:12+4 wrong-type',
      '6:12+1 not-allowed',
      '7:3+4 missing-field',
      '7:19+1 wrong-type',
    ]);
  });
});

describe('a mistake in the defaults of the stack', () => {
  const withDefaults = (defaults: string) => `${plainStack}  defaults:\n    Parent: ${defaults}\n`;

  it('is reported once, at its place', async () => {
    const manifests = `${head}spec: {}\n---\n${head.replace('app', 'other')}spec: {}\n`;
    const { diagnostics } = await readOne(
      manifests,
      withDefaults('{ runMode: remot, runMod: x, workers: null }'),
    );
    expect(formatDiagnostics(diagnostics)).toEqual([
      'trueup.yaml:10:24+5 not-allowed: "spec.defaults.Parent.runMode" cannot have this value | found the text "remot" | allowed "remote", "local", "agent" or null | fix: did you mean "remote"?',
      'trueup.yaml:10:31+6 unknown-field: there is no field "runMod" in "spec.defaults.Parent" | fix: did you mean "runMode"?',
    ]);
  });

  it('is reported with its origin if only a manifest shows it', async () => {
    const { diagnostics } = await readOne(`${head}spec: {}\n`, withDefaults('{ repo: { branch: main } }'));
    expect(formatDiagnostics(diagnostics)).toEqual([
      'trueup.yaml:10:15+4 missing-field: "spec.repo.identifier" is missing (a default of the stack) | allowed text | fix: add "identifier" | applies to this manifest manifests/a.yaml:3:19',
    ]);
  });

  it('is not reported if the defaults are only incomplete', async () => {
    const { diagnostics } = await readOne(
      `${head}spec: { repo: { identifier: x } }\n`,
      withDefaults('{ repo: { branch: main } }'),
    );
    expect(diagnostics).toEqual([]);
  });
});
