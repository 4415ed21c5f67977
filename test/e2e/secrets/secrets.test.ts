/** No secret is in any output, ledger, plan or error, even if the service repeats it (architecture: secrets stay out). */
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { localLedger } from '../../../src/ledger/local-ledger.ts';
import type { PlanJson } from '../../../src/report/json/plan-schema.ts';
import { trueup } from '../../support/captured-host.ts';
import { type Bench, type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { clusterAuthConfig, role, workspace } from '../../support/cli/documents.ts';
import { readAddress } from '../../../src/model/address.ts';

const loginJwt = 'planted.login.jwt-7c0d';
const fileJwt = 'planted.reviewer.jwt.in-a-file-1f9b';
const planted = [...Object.values(secrets), loginJwt, fileJwt];

function documents(jwt: object) {
  return [
    workspace('app', { tags: { env: 'prod' } }),
    clusterAuthConfig({ tokenReviewerJwt: jwt }),
    role('web'),
  ];
}

/** The content of all files that trueup stores for a stack. */
async function storedFiles({ directory }: Checkout): Promise<string> {
  const entries = await readdir(join(directory, '.trueup'), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  expect(files.length).toBeGreaterThan(0);
  return (
    await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')))
  ).join();
}

function expectNoSecret(text: string): void {
  for (const secret of planted) expect(text).not.toContain(secret);
}

async function planWriteAndFail({ wire }: Bench, stack: Checkout, jwt: object): Promise<string> {
  const output: string[] = [];
  const run = async (args: readonly string[], code: number) => {
    const { out, err } = await stack.run(args, code);
    output.push(out, err);
  };
  await stack.declare(...documents(jwt));
  await run(['validate'], 0);
  await run(['plan', '--calls'], 0);
  await run(['plan', '--format', 'json'], 0);
  wire.add({ method: 'POST', path: /\/config$/, times: 2, fault: { repeat: 400 } });
  await run(['apply', '--yes', '--calls'], 6);
  await run(['apply', '--yes', '--format', 'json'], 1);
  await run(['apply', '--yes'], 0);
  await stack.declare(...documents({ ...jwt, version: 2 }));
  await run(['plan', '--exit-code'], 2);
  await run(['apply', '--yes'], 0);
  wire.add({ path: /./, times: 100, fault: { repeat: 403 } });
  await run(['plan'], 1);
  await run(['plan', '--format', 'json'], 1);
  return output.join('\n');
}

describe('Planted secrets', () => {
  it('from the environment are in requests and nowhere else', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    const output = await planWriteAndFail(bench, stack, { env: 'REVIEWER_JWT' });
    const sent = bench.wire.writes().filter(({ path }) => path.endsWith('/config'));
    expect(sent.map(({ text }) => text.includes(secrets.REVIEWER_JWT))).toEqual([true, true, true, true]);
    expect(output).toContain('token_reviewer_jwt');
    expect(output).toContain('set (version 1, from env REVIEWER_JWT)');
    expectNoSecret(output);
    expectNoSecret(await storedFiles(stack));
  });

  it('from a file and from a login are in requests and nowhere else', async () => {
    const bench = await openBench();
    const login = { login: { mount: 'cluster', role: 'ci', jwt: { file: 'ci.jwt' } } };
    const stack = await bench.checkout({ clusterAuth: { token: login } });
    await writeFile(join(stack.directory, 'ci.jwt'), `${loginJwt}\n`);
    await writeFile(join(stack.directory, 'reviewer.jwt'), `${fileJwt}\n`);
    const auth = { client_token: secrets.SERVICE_TOKEN, lease_duration: 3600, renewable: false };
    bench.wire.add({ method: 'POST', path: /\/login$/, times: 8, fault: { answer: 200, body: { auth } } });
    // The token comes from the seed, and later runs need it again.
    bench.wire.add({ method: 'POST', path: /\/revoke-self$/, times: 8, fault: { answer: 204 } });
    const output = await planWriteAndFail(bench, stack, { file: 'reviewer.jwt' });
    const logins = bench.wire.writes().filter(({ path }) => path.endsWith('/login'));
    expect(logins[0]?.text).toContain(loginJwt);
    expect(bench.wire.writes().filter(({ text }) => text.includes(fileJwt))).toHaveLength(4);
    expectNoSecret(output);
    expectNoSecret(await storedFiles(stack));
  });

  it('that are missing are reported with their source, and nothing is written', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(...documents({ env: 'NO_SUCH_JWT' }));
    const { err } = await stack.run(['apply', '--yes'], 1);
    expect(err).toContain(
      'the environment variable "NO_SUCH_JWT" is not set, and ClusterAuthConfig/prod/config needs it',
    );
    expect(err).toContain('fix: set it to the value to send as "token_reviewer_jwt"');
    expect(err).not.toContain('the token');
    expect(bench.wire.writes()).toEqual([]);
    await expect(stack.ledger()).rejects.toThrow('ENOENT');
  });

  it('are sent without the white space around them, and are redacted', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    const env = { ...secrets, SPACED_JWT: ` ${secrets.REVIEWER_JWT}\n`, API_TOKEN: `${secrets.API_TOKEN}\n` };
    await stack.declare(...documents({ env: 'SPACED_JWT' }));
    bench.wire.add({ method: 'POST', path: /\/config$/, fault: { repeat: 400 } });
    const ran = await trueup(['apply', '--yes'], { cwd: stack.directory, env });
    expect(ran.code).toBe(6);
    expectNoSecret(ran.out + ran.err);
    const [config] = bench.wire.writes().filter(({ path }) => path.endsWith('/config'));
    expect(JSON.parse(config?.text ?? '')).toMatchObject({ token_reviewer_jwt: secrets.REVIEWER_JWT });
  });

  it('that somebody wrote into a manifest are refused, and not printed', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(clusterAuthConfig({ tokenReviewerJwt: secrets.REVIEWER_JWT }));
    for (const args of [['validate'], ['validate', '--format', 'json'], ['plan']]) {
      const { out, err } = await stack.run(args, 7);
      expectNoSecret(out + err);
    }
  });
});

describe('The source of a reviewer JWT', () => {
  const jwt = (source: object) => clusterAuthConfig({ tokenReviewerJwt: source });

  it('is covered by an approval: a plan with another source is stale', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(jwt({ env: 'REVIEWER_JWT' }));
    const moved = { clusterHost: 'https://moved.internal:6443' };
    await stack.declare(clusterAuthConfig({ ...moved, tokenReviewerJwt: { env: 'REVIEWER_JWT' } }));
    const { digest } = await stack.plan();
    await stack.run(['plan', '--out', 'plan.json'], 0);
    await stack.declare(clusterAuthConfig({ ...moved, tokenReviewerJwt: { env: 'API_TOKEN' } }));
    const { out, err } = await stack.run(['apply', 'plan.json'], 4);
    expect(out + err).toContain('from env API_TOKEN');
    await stack.run(['apply', '--approve', digest], 4);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('is a change of its own: it is shown, sent, and named in the history', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(jwt({ env: 'REVIEWER_JWT' }));
    await writeFile(join(stack.directory, 'reviewer.jwt'), `${fileJwt}\n`);
    await stack.declare(jwt({ file: 'reviewer.jwt' }));
    await stack.run(['plan', '--out', 'plan.json'], 0);
    const sources =
      /set \(version 1, from env REVIEWER_JWT\)[\s\S]*set \(version 1, from file reviewer\.jwt\)/;
    for (const args of [['plan'], ['show', 'plan.json']])
      expect((await stack.run(args, 0)).out).toMatch(sources);
    const { changes } = await stack.plan();
    expect(changes[0]?.fields).toMatchObject([
      { before: { set: true, version: 1, env: 'REVIEWER_JWT' }, after: { file: 'reviewer.jwt' } },
    ]);
    const { out } = await stack.run(['apply', 'plan.json'], 0);
    expect(bench.wire.writes().map(({ text }) => text.includes(fileJwt))).toEqual([true]);
    await stack.run(['plan', '--exit-code'], 0);
    const [entry = ''] = (await stack.run(['history', '--limit', '1'], 0)).out.split('\n').slice(1);
    const id = entry.split(' ')[0] ?? '';
    const shown = await stack.run(['history', 'show', id], 0);
    const revert = await stack.run(['history', 'show', id, '--revert'], 0);
    expect(shown.out).toMatch(sources);
    expect(revert.out).toContain('it was set (version 1, from env REVIEWER_JWT)');
    for (const text of [out, shown.out, revert.out, await storedFiles(stack)]) expectNoSecret(text);
  });

  const address = readAddress('ClusterAuthConfig/prod/config');

  /** An applied stack, with a ledger from before sources were recorded. */
  async function openWithoutSource() {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(jwt({ env: 'REVIEWER_JWT', version: 3 }));
    const recorded = async () => (await stack.ledger()).records[address]?.fields['tokenReviewerJwt'];
    expect(await recorded()).toEqual({ set: true, version: 3, env: 'REVIEWER_JWT' });
    const store = localLedger(join(stack.directory, '.trueup', 'payments.ledger.json'), 'payments');
    const ledger = await store.read();
    const record = ledger.records.get(address);
    const fields = { ...record?.fields, tokenReviewerJwt: { set: true, version: 3 } };
    const former = { origin: 'created' as const, ...record, fields };
    await store.write({ ...ledger, records: new Map([...ledger.records, [address, former]]) });
    expect(await recorded()).toEqual({ set: true, version: 3 });
    return { bench, stack, recorded };
  }

  it('is not a difference from a ledger without sources, and is recorded by the next apply', async () => {
    const { bench, stack, recorded } = await openWithoutSource();
    await stack.run(['plan', '--exit-code'], 0);
    await stack.run(['apply', '--yes'], 0);
    expect(bench.wire.writes()).toEqual([]);
    expect(await recorded()).toEqual({ set: true, version: 3, env: 'REVIEWER_JWT' });
  });

  it('is covered by an approval of other changes, also with a ledger without sources', async () => {
    const { bench, stack, recorded } = await openWithoutSource();
    const moved = (env: string) =>
      clusterAuthConfig({
        clusterHost: 'https://moved.internal:6443',
        tokenReviewerJwt: { env, version: 3 },
      });
    await stack.declare(moved('REVIEWER_JWT'));
    await stack.run(['plan', '--out', 'plan.json'], 0);
    const { digest } = await stack.plan();
    expect((await stack.run(['plan'], 0)).out).toMatch(/tokenReviewerJwt[\s\S]*from env REVIEWER_JWT/);
    await stack.declare(moved('SERVICE_TOKEN'));
    const { out } = await stack.run(['apply', 'plan.json'], 4);
    expect(out).toContain('from env SERVICE_TOKEN');
    await stack.run(['apply', '--approve', digest], 4);
    expect(bench.wire.writes()).toEqual([]);
    await stack.declare(moved('REVIEWER_JWT'));
    await stack.run(['apply', 'plan.json'], 0);
    expect(bench.wire.writes().map(({ text }) => text.includes(secrets.REVIEWER_JWT))).toEqual([true]);
    expect(await recorded()).toEqual({ set: true, version: 3, env: 'REVIEWER_JWT' });
  });

  it('is not a difference after the ledger was lost and recovered', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(jwt({ env: 'REVIEWER_JWT' }));
    await stack.loseLedger();
    await stack.run(['recover', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
    await stack.declare(jwt({ env: 'API_TOKEN' }));
    await stack.run(['plan', '--exit-code'], 2);
  });
});

describe('A missing token', () => {
  it.each([
    [
      { env: 'NO_TOKEN' },
      'the environment variable "NO_TOKEN" is not set: it has to hold the token of target "prod"',
    ],
    [{ file: 'no.token' }, 'it has to hold the token of target "prod"'],
    [
      { login: { mount: 'ci', role: 'ci', jwt: { env: 'NO_JWT' } } },
      'the environment variable "NO_JWT" is not set: it has to hold the JWT that target "prod" logs in with',
    ],
  ])('is reported with its purpose: %j', async (token, message) => {
    const stack = await (await openBench()).checkout({ clusterAuth: { token } });
    await stack.declare(role('web'));
    const { out, err } = await stack.run(['plan'], 1);
    expect((out + err).replace(/\s+/g, ' ')).toContain(message);
  });
});

describe('The sources that a stack admits', () => {
  it('are the only ones that its manifests may name, and do not restrict the tokens of its targets', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ spec: { secrets: { env: ['REVIEWER_*'], files: ['jwts/*'] } } });
    const declared = (source: object) => stack.declare(clusterAuthConfig({ tokenReviewerJwt: source }));
    for (const source of [{ env: 'API_TOKEN' }, { file: 'jwts/../../etc/passwd' }]) {
      await declared(source);
      for (const args of [['validate'], ['plan'], ['apply', '--yes']]) {
        const { err } = await stack.run(args, 7);
        expect(err).toContain('error[source-not-admitted]');
        expect(err).toContain('allowed');
      }
    }
    expect(bench.wire.seen).toEqual([]);
    await declared({ env: 'REVIEWER_JWT' });
    await stack.run(['apply', '--yes'], 0);
    expect(bench.wire.writes().map(({ text }) => text.includes(secrets.REVIEWER_JWT))).toEqual([true]);
  });
});

describe('An admitted file that is a link', () => {
  it('is not read outside of the admitted paths, also if it became a link after the plan', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ spec: { secrets: { files: ['jwts/*'] } } });
    const inside = (file: string) => join(stack.directory, file);
    await stack.declare(workspace('app'), clusterAuthConfig({ tokenReviewerJwt: { file: 'jwts/jwt' } }));
    await mkdir(inside('jwts'));
    await writeFile(inside('of-the-machine'), fileJwt);
    await writeFile(inside('jwts/jwt'), 'the one that is meant');
    const becomeLink = async () => {
      await rm(inside('jwts/jwt'));
      await symlink('../of-the-machine', inside('jwts/jwt'));
    };
    await stack.run(['plan'], 0);
    const reads = bench.wire.seen.filter(({ path }) => path.endsWith('/config')).length;
    const config = { method: 'GET', path: /\/config$/ };
    // First the reads of a plan, then the read just before the write.
    bench.wire.add(
      { ...config, times: reads, fault: { first: async () => {} } },
      { ...config, fault: { first: becomeLink } },
    );
    await stack.run(['apply', '--yes'], 6);
    expect(bench.written()).toEqual(['POST /api/v2/organizations/acme/workspaces']);
    const { err } = await stack.run(['apply', '--yes'], 7);
    expect(err).toContain('error[source-not-admitted]');
    expect(err).toContain(', which "spec.secrets" of the stack does not admit');
    expectNoSecret(JSON.stringify(bench.wire.writes()) + err);
  });
});

describe('A missing secret', () => {
  const jwt = (source: object, metadata: object = {}) => {
    const config = clusterAuthConfig({ tokenReviewerJwt: source });
    return { ...config, metadata: { ...config.metadata, ...metadata } };
  };
  const notesOf = async (stack: Checkout) => (await stack.plan()).changes.flatMap(({ notes }) => notes);

  it('is a note of the plan, and does not change its digest', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(jwt({ env: 'LATER_JWT' }));
    const env = { ...secrets, LATER_JWT: 'planted' };
    const run = async (more: object) => {
      const { out } = await trueup(['plan', '--format', 'json'], {
        cwd: stack.directory,
        env: { ...env, ...more },
      });
      return JSON.parse(out) as PlanJson;
    };
    const [there, empty, gone] = [await run({}), await run({ LATER_JWT: '' }), await stack.plan()];
    const notes = [there, empty, gone].map(({ changes }) => changes.flatMap((change) => change.notes));
    expect(notes).toEqual([
      [],
      ['the environment variable "LATER_JWT" is empty here: apply will need it'],
      ['the environment variable "LATER_JWT" is not set here: apply will need it'],
    ]);
    expect(new Set([there, empty, gone].map(({ digest }) => digest)).size).toBe(1);
    expect((await stack.run(['plan'], 0)).out).toContain(
      'note: the environment variable "LATER_JWT" is not set here',
    );
  });

  it('in a file is reported without reading the file', async () => {
    const stack = await (await openBench()).checkout();
    await mkdir(join(stack.directory, 'folder'));
    await writeFile(join(stack.directory, 'empty.jwt'), '');
    // Reading this pipe would never end.
    execFileSync('mkfifo', [join(stack.directory, 'pipe.jwt')]);
    const cases = {
      'no.jwt': 'is not there',
      folder: 'is a directory',
      'empty.jwt': 'is empty',
      'pipe.jwt': 'is not a regular file',
    };
    for (const [file, why] of Object.entries(cases)) {
      await stack.declare(jwt({ file }));
      expect(await notesOf(stack)).toEqual([`the file "${file}" ${why} here: apply will need it`]);
    }
  });

  it('can be white space only, which apply reports before its first write', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await writeFile(join(stack.directory, 'blank.jwt'), ' \n');
    const apply = (source: object) =>
      stack
        .declare(workspace('app'), jwt(source))
        .then(() =>
          trueup(['apply', '--yes'], { cwd: stack.directory, env: { ...secrets, BLANK: ' \t\n' } }),
        );
    for (const [source, why] of [
      [{ env: 'BLANK' }, 'the environment variable "BLANK" is empty'],
      [{ file: 'blank.jwt' }, 'the file "blank.jwt" is empty'],
    ] as const) {
      const { code, err } = await apply(source);
      expect(code).toBe(1);
      expect(err).toContain(`${why}, and ClusterAuthConfig/prod/config needs it`);
      expect(bench.wire.writes()).toEqual([]);
    }
    // A plan does not read the file, so it cannot report this.
    expect(await notesOf(stack)).toEqual([]);
  });

  it('is not a note if nothing is to be sent', async () => {
    const stack = await (await openBench()).checkout();
    await stack.setUp(jwt({ env: 'REVIEWER_JWT' }));
    const { REVIEWER_JWT: _, ...env } = secrets;
    const { out, code } = await trueup(['plan', '--exit-code'], { cwd: stack.directory, env });
    expect([code, out.includes('REVIEWER_JWT')]).toEqual([0, false]);
  });

  it('stops apply before its first write, and is reported once for all changes that need it', async () => {
    const bench = await openBench({ mounts: ['cluster', 'second', 'third'] });
    const target = (name: string, mount: string) => ({
      ...{ name, mount, service: 'cluster-auth', url: bench.wire.url, dialect: 'neutral' },
      token: { env: 'SERVICE_TOKEN' },
    });
    const targets = [target('prod', 'cluster'), target('test', 'second'), target('dev', 'third')];
    const stack = await bench.checkout({ spec: { targets } });
    await stack.declare(
      jwt({ env: 'NO_SUCH_JWT' }, { targets: ['prod', 'test'] }),
      jwt({ file: 'no.jwt' }, { target: 'dev' }),
      ...['a', 'b', 'c'].map((name) => role(name, {}, { target: 'prod' })),
    );
    const { digest } = await stack.plan();
    for (const args of [
      ['apply', '--yes'],
      ['apply', '--approve', digest],
    ]) {
      const { err } = await stack.run(args, 1);
      expect(err.match(/error\[secret-missing\]/g)).toHaveLength(2);
      expect(err).toContain('ClusterAuthConfig/prod/config, ClusterAuthConfig/test/config need it');
      expect(err).toContain('the file "no.jwt" is not there, and ClusterAuthConfig/dev/config needs it');
    }
    const { out } = await stack.run(['apply', '--yes', '--format', 'json'], 1);
    const codes = (JSON.parse(out).diagnostics as { code: string }[]).map(({ code }) => code);
    expect(codes.slice(-3)).toEqual(['secret-missing', 'secret-missing', 'plan-lacks-secrets']);
    expect(bench.wire.writes()).toEqual([]);
  });
});
