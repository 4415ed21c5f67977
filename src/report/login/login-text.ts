/** The checks of a login for a terminal: one line each, what to change, and the answer to whether the login would succeed. */
import { formatDuration } from '../../model/kind/duration.ts';
import {
  firstFailure,
  type LoginCheck,
  type LoginReport,
  type LoginTrial,
  wouldSucceed,
} from '../../model/login-check.ts';
import { quoted } from '../../model/quoted.ts';
import { printable } from '../format/printable.ts';
import { formatSpot } from '../terminal/diagnostics-text.ts';
import { labelled } from '../terminal/layout.ts';
import type { Paint } from '../terminal/paint.ts';

interface LoginTextOptions {
  readonly paint: Paint;
  /** columns of the terminal */
  readonly width: number;
}

export function renderLogin(report: LoginReport, options: LoginTextOptions): string {
  const { paint } = options;
  const { role, mount, target, against } = report;
  const head = `Login as role ${quoted(role)} at mount ${quoted(mount)} of target ${quoted(target)}, ${against}`;
  return [
    paint.heading(printable(head)),
    report.checks.flatMap((check) => checkLines(check, options)).join('\n'),
    ...(report.trial === undefined ? [] : [trialText(report.trial)]),
    verdict(report, paint),
  ].join('\n\n');
}

const words = { passed: 'ok', open: 'open', failed: 'FAILED' } as const;

const emphases = { passed: 'added', open: 'changed', failed: 'error' } as const;

/** Colours are added last, because a line is wrapped by the columns of its text. */
function checkLines(
  { name, result, message, fix, place }: LoginCheck,
  { paint, width }: LoginTextOptions,
): string[] {
  const word = words[result].padEnd(7);
  const label = `  ${word} ${name.padEnd(10)} `;
  const lines = labelled(label, printable(message), width);
  const [first = '', ...more] = lines;
  const column = ' '.repeat(label.length);
  return [
    first.replace(word, paint[emphases[result]](word)),
    ...more,
    ...(fix === undefined ? [] : labelled(`${column}fix: `, printable(fix), width)),
    ...(place === undefined ? [] : [`${column}at:  ${formatSpot(place)}`]),
  ];
}

function trialText(trial: LoginTrial): string {
  if (!trial.granted) return printable(`Tried: the service refused the login: ${trial.why}`);
  const { lifetime, policies, warnings, unrevoked } = trial;
  const length = lifetime === 0 ? 'without an end' : `for ${formatDuration(lifetime)}`;
  const rights =
    policies.length === 0
      ? 'without policies'
      : `with ${policies.length === 1 ? 'the policy' : 'the policies'} ${policies.map(quoted).join(', ')}`;
  const end =
    unrevoked === undefined
      ? 'it was revoked at once'
      : `it could not be revoked, and ends by itself: ${unrevoked}`;
  return [
    `Tried: the service gave a token ${length}, ${rights}; ${end}`,
    ...warnings.map((warning) => `The service warns: ${warning}`),
  ]
    .map(printable)
    .join('\n');
}

function verdict(report: LoginReport, paint: Paint): string {
  const failure = firstFailure(report);
  if (wouldSucceed(report))
    return report.trial === undefined ? expectation(report, paint) : paint.added('The login succeeds');
  if (failure === undefined) return `${paint.error('The login fails')}: ${printable(unforeseen(report))}`;
  const line = `${paint.error('The login would not succeed')}: ${failure.name}: ${printable(failure.message)}`;
  return report.trial?.granted === true ? `${line}\n${contradiction(report)}` : line;
}

function expectation({ checks }: LoginReport, paint: Paint): string {
  const open = checks.filter(({ result }) => result === 'open').map(({ name }) => name);
  const decided = paint.added('The login would succeed');
  if (open.length === 0) return decided;
  return `${decided}, unless the service decides otherwise about what is open: ${open.join(', ')}`;
}

/** The service refused what no check has refused. */
function unforeseen({ checks, against }: LoginReport): string {
  const open = checks.filter(({ result }) => result === 'open').map(({ name }) => name);
  const live = against === 'declared' ? ', or the live role differs from the declared one' : '';
  return `no check fails here, so what is open was refused (${open.join(', ')})${live}`;
}

function contradiction({ against }: LoginReport): string {
  return against === 'declared'
    ? 'The service accepts it now, because its role or config is another one: the declared one would end that'
    : 'The service accepts it all the same: see whether its role or config has changed meanwhile, or the clock of this machine is wrong';
}
