// The check of a login on a terminal, in cases that are rare in runs of the command.
import { describe, expect, it } from 'vitest';
import type { LoginCheck, LoginReport, LoginTrial } from '../../../src/model/login-check.ts';
import { renderLogin } from '../../../src/commands/role-check/results.ts';
import { plain } from '../../../src/report/text/layout.ts';

const passed: LoginCheck = { name: 'role', result: 'passed', message: 'the service has the role' };
const failed: LoginCheck = { name: 'name', result: 'failed', message: 'the name is "x"', fix: 'add "x"' };

function render(checks: readonly LoginCheck[], more: Partial<LoginReport> = {}, width = 100): string {
  const about = { stack: 's', target: 'prod', mount: 'cluster', role: 'web', against: 'live' } as const;
  return renderLogin({ ...about, checks, ...more }, { paint: plain, width });
}

const granted = (more: object = {}): LoginTrial => ({
  granted: true,
  lifetime: 5400,
  policies: ['default'],
  warnings: [],
  ...more,
});

describe('the check of a login', () => {
  it('ends with a plain answer', () => {
    expect(render([passed])).toMatch(/\n\nThe login would succeed$/);
    expect(render([passed, failed])).toMatch(/\n\nThe login would not succeed: name: the name is "x"$/);
    expect(render([passed], { trial: granted() })).toMatch(/\n\nThe login succeeds$/);
  });

  it('shows what the token allowed, the warnings of the service, and why it could not be revoked', () => {
    const trial = granted({
      lifetime: 0,
      policies: [],
      warnings: ['TTL is capped'],
      unrevoked: 'batch tokens cannot be revoked',
    });
    expect(
      render([passed], { trial }),
    ).toContain(`Tried: the service gave a token without an end, without policies; it could not be revoked, and ends by itself: batch tokens cannot be revoked
The service warns: TTL is capped`);
  });

  it('points out that the service accepts a login whose checks fail here', () => {
    expect(render([failed], { trial: granted() })).toContain('The service accepts it nevertheless');
  });

  it('fits into a narrow terminal', () => {
    const message = 'the role admits only "10.0.0.0/8": give the address of the client with --from';
    const lines = render([{ ...failed, message, fix: message }], {}, 60).split('\n');
    const table = lines.filter((line) => line.startsWith('  '));
    expect(Math.max(...table.map(({ length }) => length))).toBeLessThanOrEqual(60);
  });

  it('shows no control characters from a JWT', () => {
    const text = render([{ ...failed, message: 'the name is "\u001b[2J"', fix: 'add "\u202e"' }]);
    expect(text).toContain('the name is "\\u001b[2J"');
    expect(text).not.toContain('\u001b');
    expect(text).not.toContain('\u202e');
  });
});
