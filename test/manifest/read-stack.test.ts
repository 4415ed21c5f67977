import { describe, expect, it } from 'vitest';
import { plainStack, readOne, formatDiagnostics } from '../support/manifest/manifest-folder.ts';

const parentManifest = 'apiVersion: trueup.dev/v1\nkind: Parent\nmetadata: { name: app }\nspec: {}\n';
const read = (stack: string, manifest = parentManifest) => readOne(manifest, stack);

/** The diagnostics of a stack, without the name of its file. */
async function messagesFor(stack: string): Promise<string[]> {
  const { diagnostics } = await read(stack);
  return formatDiagnostics(diagnostics).map((line) => line.replaceAll('trueup.yaml:', ''));
}

/** A stack with this as its first target. */
const target = (text: string) => plainStack.replace(/- \{ name: acme.*/, `- { ${text} }`);
const acme = 'name: acme, service: workspaces';
const prod = 'name: acme, service: cluster-auth';

describe('a stack', () => {
  it('is read with its targets, defaults and guards', async () => {
    const { stack, diagnostics } = await read(`apiVersion: trueup.dev/v1
kind: Stack
metadata: { name: payments, renamedFrom: billing }
spec:
  manifests: ["manifests/*.yaml"]
  targets:
    - name: acme
      service: workspaces
      url: https://app.example.com/
      organization: acme
      token: { env: ACME_TOKEN }
      auditToken: { file: audit.txt }
      dialect: hosted
      caCert: { file: ca.pem }
      requestsPerSecond: 5
    - name: prod
      service: cluster-auth
      url: https://secrets.example.com:8200
      dialect: neutral
      namespace: team/a
      token: { login: { mount: kubernetes, role: ci, jwt: { file: /token } } }
      owns: ["payments-*"]
      exclusive: true
  defaults: { Parent: { autoApply: true } }
  guards: { maxDeletes: 3, maxDeletePercent: 10, maxUpdatePercent: 30 }
`);
    expect(diagnostics).toEqual([]);
    expect(stack).toMatchObject({
      name: 'payments',
      renamedFrom: 'billing',
      file: 'trueup.yaml',
      manifests: ['manifests/*.yaml'],
      defaults: [{ kinds: { Parent: { autoApply: true } }, path: ['spec', 'defaults'] }],
      guards: { maxDeletes: 3, maxDeletePercent: 10, maxUpdatePercent: 30 },
    });
    expect(stack?.targets).toEqual([
      {
        name: 'acme',
        service: 'workspaces',
        url: 'https://app.example.com',
        organization: 'acme',
        token: { env: 'ACME_TOKEN' },
        auditToken: { file: 'audit.txt' },
        dialect: 'hosted',
        caCert: { file: 'ca.pem' },
        requestsPerSecond: 5,
      },
      {
        name: 'prod',
        service: 'cluster-auth',
        url: 'https://secrets.example.com:8200',
        dialect: 'neutral',
        mount: 'cluster',
        namespace: 'team/a',
        token: { login: { mount: 'kubernetes', role: 'ci', jwt: { file: '/token' } } },
        owns: ['payments-*'],
        exclusive: true,
      },
    ]);
  });

  it('with the embedded service needs neither token nor dialect', async () => {
    const { stack } = await read(plainStack);
    expect(stack?.targets[0]).toEqual({
      name: 'acme',
      service: 'workspaces',
      url: 'embedded',
      organization: 'acme',
      dialect: 'neutral',
    });
  });
});

describe('the archive of a stack', () => {
  it.each([
    ['{ file: .trueup/audit.db }', { in: 'file', file: '.trueup/audit.db' }],
    ['postgres', { in: 'postgres', url: { env: 'TRUEUP_AUDIT_URL' } }],
    ['{ postgres: { url: { file: url.txt } } }', { in: 'postgres', url: { file: 'url.txt' } }],
  ])('may be %s', async (written, archive) => {
    const { stack, diagnostics } = await read(`${plainStack}  audit: { archive: ${written} }\n`);
    expect(diagnostics).toEqual([]);
    expect(stack?.audit).toEqual({ archive });
  });

  it.each([
    ['sqlite', '"postgres", or a map such as { file: audit.db }'],
    ['{ file: ../audit.db }', 'a file beside or below this one'],
    ['{ file: /srv/audit.db }', 'a file beside or below this one'],
    ['{ file: kept/ }', 'a file beside or below this one'],
    ['{ file: a.db, postgres: { url: { env: X } } }', 'must have exactly one member'],
    ['{}', '"file" or "postgres"'],
  ])('is not %s', async (written, words) => {
    const messages = await messagesFor(`${plainStack}  audit: { archive: ${written} }\n`);
    expect(messages.join('\n')).toContain(words);
  });
});

describe('a stack with mistakes', () => {
  it('needs a name that fits into an ownership tag', async () => {
    expect(await messagesFor(plainStack.replace('payments', 'Pay ments'))).toEqual([
      '3:19+9 pattern: "metadata.name" is not well formed | found the text "Pay ments" | allowed lower-case letters, digits and "-", at most 63 | fix: write "pay-ments"',
    ]);
  });

  it('is reported if it has unknown fields', async () => {
    expect(
      await messagesFor(`${plainStack}  default: {}\n  guards: { maxDelete: 3, maxDeletePercent: 101 }\n`),
    ).toEqual([
      '9:3+7 unknown-field: there is no field "default" in "spec" | fix: did you mean "defaults"?',
      '10:13+9 unknown-field: there is no field "maxDelete" in "spec.guards" | allowed "maxDeletes", "maxDeletePercent", "maxUpdatePercent", "raise" or "allow" | fix: did you mean "maxDeletes"?',
      '10:45+3 out-of-range: "spec.guards.maxDeletePercent" is out of range | found the number 101 | allowed at most 100',
    ]);
  });

  it('lists its manifests as texts, or as maps with options', async () => {
    const messagesForItems = (items: string) =>
      messagesFor(plainStack.replace('[manifests]', `[manifests, ${items}]`));
    expect(await messagesForItems('5, ""')).toEqual([
      '5:26+1 wrong-type: "spec.manifests[1]" has the wrong type | found the number 5 | allowed text or a map | fix: put it in quotes: \'5\'',
      '5:29+2 empty: "spec.manifests[2]" is empty | allowed at least 1 character',
    ]);
    expect(await messagesForItems('{ patern: a }, { pattern: manifests, optional: yes }')).toEqual([
      '5:28+6 unknown-field: there is no field "patern" in "spec.manifests[1]" | allowed "pattern" or "optional" | fix: did you mean "pattern"?',
      '5:73+3 wrong-type: "spec.manifests[2].optional" has the wrong type | found the text "yes" | allowed true or false | fix: write true, without quotes',
    ]);
    const alone = 'allowed a file, a directory or a pattern; write "-" and exclusions with "!" as plain text';
    expect(await messagesForItems('{ pattern: "!a", optional: true }, { pattern: "-" }, {}')).toEqual([
      `5:37+4 pattern: "spec.manifests[1].pattern" is not well formed | found the text "!a" | ${alone}`,
      `5:72+3 pattern: "spec.manifests[2].pattern" is not well formed | found the text "-" | ${alone}`,
      '5:79+2 missing-field: "spec.manifests[3].pattern" is missing | allowed text | fix: add "pattern"',
    ]);
  });

  it('declares what an approval of its plans needs', async () => {
    const approvals = (text: string) => plainStack.replace(/^spec:/m, `spec:\n  approvals: ${text}`);
    const rules = '{ accept: [signature, review], count: 2, from: [{ signers: keys }, { team: acme/ops }] }';
    const { stack, diagnostics } = await read(approvals(rules));
    expect(diagnostics).toEqual([]);
    expect(stack?.approvals).toEqual({
      accept: ['signature', 'review'],
      count: 2,
      from: [{ signers: 'keys' }, { team: 'acme/ops' }],
    });
    expect(
      await messagesFor(approvals('{ accept: [none, review], count: 0, from: [{ signers: ../keys }] }')),
    ).toEqual([
      expect.stringContaining('approvals-not-needed: "none" stands beside other methods'),
      expect.stringContaining('out-of-range: "spec.approvals.count" is out of range'),
      expect.stringContaining('pattern: "spec.approvals.from[0].signers" is not well formed'),
    ]);
  });

  it('has defaults only for kinds that exist', async () => {
    expect(await messagesFor(`${plainStack}  defaults:\n    parent: {}\n    Stack: {}\n`)).toEqual([
      '10:5+6 unknown-kind: "parent" in "spec.defaults" is not a kind | allowed "Parent", "Labels", "Readers", "Role" or "Settings" | fix: did you mean "Parent"?',
      '11:5+5 unknown-kind: "Stack" in "spec.defaults" is not a kind | allowed "Parent", "Labels", "Readers", "Role" or "Settings"',
    ]);
  });

  it('is reported if its kind has the wrong case, or is missing', async () => {
    expect(await messagesFor(plainStack.replace('Stack', 'stack'))).toEqual([
      '2:7+5 not-allowed: "kind" cannot have this value | found the text "stack" | allowed "Stack" | fix: write "Stack"',
    ]);
    expect(await messagesFor(plainStack.replace('kind: Stack\n', ''))).toEqual([
      '1:1+10 missing-field: "kind" is missing | allowed "Stack" | fix: add "kind: Stack"',
    ]);
  });

  it('does not hide the mistakes in its manifests', async () => {
    const { diagnostics, resources } = await read(
      plainStack.replace('payments', 'Pay ments'),
      `${parentManifest}---\n${parentManifest.replace('spec: {}', 'spec: { runMode: x }')}`,
    );
    expect(diagnostics.map(({ code, place }) => `${place?.file} ${code}`)).toEqual([
      'manifests/a.yaml duplicate',
      'manifests/a.yaml not-allowed',
      'trueup.yaml pattern',
    ]);
    expect(resources).toHaveLength(1);
  });
});

describe('a target with mistakes', () => {
  it.each([
    [
      'needs a unique name',
      `name: prod, service: workspaces, url: embedded, organization: x`,
      [
        '8:15+4 duplicate: two targets are called "prod" | fix: give one of them another name | first here 7:15',
      ],
    ],
    [
      'needs a plain name',
      'name: Acme_1, service: workspaces, url: embedded, organization: x',
      [
        '7:15+6 pattern: "spec.targets[0].name" is not well formed | found the text "Acme_1" | allowed lower-case letters, digits and "-"',
      ],
    ],
    [
      'needs a service that exists',
      'name: acme, service: workspace, url: embedded, organization: x',
      [
        '7:30+9 not-allowed: "spec.targets[0].service" cannot have this value | found the text "workspace" | allowed "workspaces" or "cluster-auth" | fix: did you mean "workspaces"?',
      ],
    ],
    [
      'needs an organization',
      `${acme}, url: embedded`,
      [
        '7:7+50 missing-field: "spec.targets[0].organization" is missing | fix: add the name of the organization',
      ],
    ],
    [
      'needs a dialect and a token if it is not embedded',
      `${acme}, url: "https://x.example", organization: x`,
      [
        '7:7+78 missing-field: "spec.targets[0].dialect" is missing | allowed "neutral" or "hosted" | fix: add "neutral" for a neutral service or "hosted" for a hosted service',
        '7:7+78 missing-field: "spec.targets[0].token" is missing | fix: add "token: { env: NAME }" or "token: { file: PATH }"',
      ],
    ],
    [
      'needs a dialect of its service',
      `${acme}, url: embedded, organization: x, dialect: fortress`,
      [
        '7:83+8 unknown-dialect: targets of service "workspaces" have no such dialect | found "fortress" | allowed "neutral" or "hosted"',
      ],
    ],
    [
      'has only fields of its service',
      `${acme}, url: embedded, organization: x, mount: y, owns: [a]`,
      [
        '7:74+5 not-for-service: "mount" is for targets of service "cluster-auth", and "acme" is of "workspaces" | fix: remove "mount"',
        '7:84+4 not-for-service: "owns" is for targets of service "cluster-auth", and "acme" is of "workspaces" | fix: remove "owns"',
      ],
    ],
    [
      'needs a mount if its dialect has no default',
      `${prod}, url: embedded, dialect: fortress`,
      ['7:7+71 missing-field: "spec.targets[0].mount" is missing | fix: add the name of the mount'],
    ],
    [
      'has a mount without slashes around it',
      `${prod}, url: embedded, mount: auth/kubernetes/`,
      [
        '7:66+16 mount: "spec.targets[0].mount" must be the name below "auth/", without slashes around it | found "auth/kubernetes/" | fix: write "kubernetes"',
      ],
    ],
    [
      'has a mount without segments such as ..',
      `${prod}, url: embedded, mount: team/../x`,
      [
        '7:66+9 mount: "spec.targets[0].mount" must be the name of a mount, without empty segments, "." or ".." | found "team/../x" | fix: write the name below "auth/"',
      ],
    ],
  ])('%s', async (_, text, messages) => {
    expect(await messagesFor(target(text))).toEqual(messages);
  });

  it.each([
    [
      'ftp://x',
      'must be "embedded" or an http(s) address',
      'write an address such as https://app.example.com',
    ],
    [
      'Embedded',
      'must be "embedded" or an http(s) address',
      'write an address such as https://app.example.com',
    ],
    ['https://x/api/v2/', 'ends with the path of the API, "/api/v2"', 'remove "/api/v2"'],
    ['https://x/v1', 'ends with the path of the API, "/v1"', 'remove "/v1"'],
    ['https://x?a=b', 'holds a query or fragment', 'end it before "?" and "#"'],
    ['https://me:planted@x', 'holds a user name or password', 'remove it, and give a "token"'],
  ])('needs a plain address: %s', async (url, message, fix) => {
    const { diagnostics } = await read(
      target(`${acme}, url: "${url}", organization: x, dialect: hosted, token: { env: T }`),
    );
    expect(formatDiagnostics(diagnostics)).toEqual([
      `trueup.yaml:7:47+${url.length + 2} url: "spec.targets[0].url" ${message} | fix: ${fix}`,
    ]);
    expect(JSON.stringify(diagnostics)).not.toContain('planted');
  });

  it.each([
    [
      'token: planted',
      '7:77+5 literal-secret: "spec.targets[0].token" must name the source of the secret, not hold it | allowed { env: … } or { file: … } or { login: … } | fix: put it in an environment variable and write { env: NAME }; if it was ever committed, replace it',
    ],
    [
      'token: { env: "planted-1.x" }',
      '7:91+13 pattern: "spec.targets[0].token.env" is not well formed | allowed the name of an environment variable: letters, digits and "_"',
    ],
    [
      'token: { value: planted }',
      '7:86+5 unknown-field: there is no field "value" in "spec.targets[0].token" | allowed "env", "file" or "login"',
    ],
    [
      'tokn: planted',
      '7:77+4 unknown-field: there is no field "tokn" in "spec.targets[0]" | fix: did you mean "token"?',
    ],
    [
      'auditToken: planted',
      '7:77+10 literal-secret: "spec.targets[0].auditToken" must name the source of the secret, not hold it | allowed { env: … } or { file: … } | fix: put it in an environment variable and write { env: NAME }; if it was ever committed, replace it',
    ],
    [
      'token: { login: { mount: a, role: b, jwt: planted } }',
      '7:114+3 literal-secret: "spec.targets[0].token.login.jwt" must name the source of the secret, not hold it | allowed { env: … } or { file: … } or { oidc: … } | fix: put it in an environment variable and write { env: NAME }; if it was ever committed, replace it',
    ],
    [
      'token: { env: A, file: b }',
      '7:77+5 too-many: "spec.targets[0].token" must have exactly one member | allowed "env", "file" or "login" | fix: keep one of them',
    ],
    [
      'token: {}',
      '7:77+5 too-few: "spec.targets[0].token" must have exactly one member | allowed "env", "file" or "login" | fix: add "env", "file" or "login"',
    ],
    [
      'token: { login: { mount: a, role: b, jwt: { env: C } } }',
      '7:86+5 not-for-service: a login is for targets of service "cluster-auth" | fix: give "env" or "file"',
    ],
  ])('is reported without its secret: %s', async (field, message) => {
    const { diagnostics } = await read(target(`${acme}, url: embedded, organization: acme, ${field}`));
    expect(formatDiagnostics(diagnostics)).toEqual([`trueup.yaml:${message}`]);
    expect(JSON.stringify(diagnostics)).not.toContain('planted');
  });

  it('causes no errors in the manifests that name it', async () => {
    const { diagnostics } = await read(
      target('name: acme, service: workspace, url: embedded'),
      parentManifest.replace('name: app', 'name: app, target: acme'),
    );
    expect(diagnostics.map(({ code, place }) => `${place?.file} ${code}`)).toEqual([
      'trueup.yaml not-allowed',
    ]);
  });
});
