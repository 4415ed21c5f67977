// `trueup role check --try`: one real login, whose token is revoked at once and shown nowhere. A simulated login that issues tokens
// replaces the one of the service, in the proxy that records the requests.
import { describe, expect, it } from 'vitest';
import { openIssuer } from '../../support/cli/account-jwt.ts';
import { type Bench, type Checkout, openBench } from '../../support/cli/bench.ts';
import { clusterAuthConfig, role } from '../../support/cli/documents.ts';

const token = 'planted-login-token-51c7';
const loginPath = /\/auth\/cluster\/login$/;

async function openScene(roleFields: object = {}): Promise<{ bench: Bench; stack: Checkout; jwt: string }> {
  const [bench, issuer] = await Promise.all([openBench(), openIssuer()]);
  const stack = await bench.checkout();
  await stack.setUp(clusterAuthConfig({ pemKeys: [issuer.publicKey] }), role('web', roleFields));
  const jwt = await issuer.issue();
  await stack.write('app.jwt', jwt);
  return { bench, stack, jwt };
}

function grantLogins({ wire }: Bench): void {
  const auth = { client_token: token, lease_duration: 600, renewable: true, policies: ['default', 'web'] };
  wire.add({ path: loginPath, times: 9, fault: { answer: 200, body: { auth } } });
  wire.add({ path: /revoke-self$/, times: 9, fault: { answer: 204 } });
}

function refuseLogins({ wire }: Bench, words: string): void {
  wire.add({ path: loginPath, times: 9, fault: { answer: 403, body: { errors: [words] } } });
}

const attempt = ['role', 'check', 'web', '--jwt', 'app.jwt', '--try'];
const json = ['--format', 'json'];

describe('trueup role check --try', () => {
  it('logs in, reports the duration and policies of the token, and revokes it', async () => {
    const { bench, stack, jwt } = await openScene();
    grantLogins(bench);
    const { out } = await stack.run(attempt, 0);
    expect(out).toContain(
      'Tried: the service gave a token for 10m, with the policies "default", "web"; it was revoked at once',
    );
    expect(out).toContain('The login succeeds');
    expect(bench.written()).toEqual(['POST /v1/auth/cluster/login', 'POST /v1/auth/token/revoke-self']);
    expect(JSON.parse(bench.wire.writes()[0]?.text ?? '')).toEqual({ role: 'web', jwt });
  });

  it('shows neither the JWT nor the token, also when the service repeats them', async () => {
    const { bench, stack, jwt } = await openScene();
    grantLogins(bench);
    for (const format of [[], json]) {
      const { out, err } = await stack.run([...attempt, ...format], 0);
      for (const secret of [jwt, token]) expect(out + err).not.toContain(secret);
    }
    bench.wire.reset();
    bench.wire.add({ path: loginPath, times: 2, fault: { repeat: 403 } });
    for (const format of [[], json]) {
      const { out, err } = await stack.run([...attempt, ...format], 2);
      expect(out).toContain('[secret]');
      expect(out + err).not.toContain(jwt);
    }
  });

  it('shows no part of the JWT that the service repeats', async () => {
    const { bench, stack, jwt } = await openScene();
    for (const part of jwt.split('.')) {
      bench.wire.reset();
      refuseLogins(bench, `the part ${part} is wrong`);
      for (const format of [[], json]) {
        const { out, err } = await stack.run([...attempt, ...format], 2);
        expect(out.replace(/\s+/g, ' ')).toContain('the part [secret] is wrong');
        expect(out + err).not.toContain(part);
      }
    }
  });

  it('reports the reason of the service if no check could predict the refusal', async () => {
    const { bench, stack } = await openScene();
    refuseLogins(bench, 'permission denied');
    const { out } = await stack.run(attempt, 2);
    expect(out).toContain('answered 403: permission denied');
    expect(out).toContain(
      'The login fails: no check fails here, so the service refused one of the open checks (review)\n',
    );
    const answer = JSON.parse((await stack.run([...attempt, ...json], 2)).out);
    expect(answer).toMatchObject({ succeeds: false, trial: { granted: false } });
  });

  it('says if the service accepts a login that the manifests would refuse', async () => {
    const { bench, stack } = await openScene();
    grantLogins(bench);
    await stack.declare(clusterAuthConfig(), role('web', { audience: 'other' }));
    const { out } = await stack.run([...attempt, '--against', 'declared'], 2);
    expect(out).toContain('The login would not succeed: audience:');
    expect(out).toContain(
      'The service accepts it now, because the live role or config differs from the declared one',
    );
  });

  it('needs no token of the target, and sends none', async () => {
    const { bench, stack } = await openScene();
    grantLogins(bench);
    const { stack: name } = { stack: 'payments' };
    const bare = await stack.reconfigure({ name, clusterAuth: { token: { env: 'NOT_SET' } } });
    const { out } = await bare.run([...attempt, '--against', 'declared'], 0);
    expect(out).toContain('The login succeeds');
    expect(bench.wire.seen.map(({ method }) => method)).toEqual(['POST', 'POST']);
  });

  it('sends nothing that is not a JWT', async () => {
    const { bench, stack } = await openScene();
    await stack.write('app.jwt', 'some other secret of the user');
    await stack.run([...attempt, '--against', 'declared'], 2);
    expect(bench.wire.seen).toEqual([]);
  });

  it('reports an error, and not a refusal, if the service is sealed', async () => {
    const { bench, stack } = await openScene();
    bench.wire.add({ path: loginPath, fault: { answer: 503, body: { errors: ['sealed'] } } });
    const { err } = await stack.run(attempt, 1);
    expect(err).toContain('answered 503: sealed');
  });
});
