/**
 * The results of the checks of a login, and how they are printed: for a terminal, one line for each check, its fix, and the
 * conclusion; or JSON that is valid against `schema.ts`.
 */
import type { ConfigSpec } from '../../kinds/cluster-auth-config/schema.ts';
import type { RoleSpec } from '../../kinds/cluster-auth-role/schema.ts';
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import { formatDuration } from '../../model/duration.ts';
import {
  firstFailure,
  type LoginCheck,
  type LoginCheckName,
  type LoginField,
  type LoginReport,
  type LoginTrial,
  wouldSucceed,
} from '../../model/login-check.ts';
import { quoted } from '../../model/quoted.ts';
import { diagnosticsMember, placeMember, renderJson } from '../../report/json/render-json.ts';
import { formatSpot } from '../../report/text/diagnostics.ts';
import { labelled, type Paint } from '../../report/text/layout.ts';
import { printable } from '../../report/view/printable.ts';

export function passed(name: LoginCheckName, message: string): LoginCheck {
  return { name, result: 'passed', message };
}

/** A check whose result only the service or its cluster knows. */
export function open(name: LoginCheckName, message: string): LoginCheck {
  return { name, result: 'open', message };
}

/** @param field the field of a manifest that the fix changes */
export function failed(name: LoginCheckName, message: string, fix: string, field?: LoginField): LoginCheck {
  return { name, result: 'failed', message, fix, ...(field && { field }) };
}

export function ofRole(name: keyof RoleSpec & string): LoginField {
  return { of: 'role', name };
}

export function ofConfig(name: keyof ConfigSpec & string): LoginField {
  return { of: 'config', name };
}

// Texts of JWTs, roles and configs in messages. A JWT may contain any text, so a long text is not shown.

/** In characters: longer than any real name. A longer text is not shown at all, because a part of a secret would not be masked. */
const longest = 300;

/** The most members of a list that are shown; the others are counted. */
const most = 8;

/** The text in quotes. */
export function shown(text: string): string {
  return text.length > longest ? `a text of ${text.length} characters` : quoted(text);
}

/** `"a", "b"`; `nothing` for an empty list. */
export function shownList(texts: readonly string[]): string {
  if (texts.length === 0) return 'nothing';
  const more = texts.length - most;
  return `${texts.slice(0, most).map(shown).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

// The checks of a login for a terminal: one line each, what to change, and whether the login would succeed.

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

/** Colours are added last, because lines are wrapped by the width of their text without colours. */
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
  const openChecks = checks.filter(({ result }) => result === 'open').map(({ name }) => name);
  const decided = paint.added('The login would succeed');
  if (openChecks.length === 0) return decided;
  return `${decided}, unless the service decides otherwise about what is open: ${openChecks.join(', ')}`;
}

/** For a login that the service refused although no check failed. */
function unforeseen({ checks, against }: LoginReport): string {
  const openChecks = checks.filter(({ result }) => result === 'open').map(({ name }) => name);
  const live = against === 'declared' ? ', or the live role differs from the declared one' : '';
  return `no check fails here, so the service refused one of the open checks (${openChecks.join(', ')})${live}`;
}

function contradiction({ against }: LoginReport): string {
  return against === 'declared'
    ? 'The service accepts it now, because the live role or config differs from the declared one: an apply of the manifests would end that'
    : 'The service accepts it nevertheless: check whether its role or config has changed meanwhile, or the clock of this machine is wrong';
}

// The checks of a login as JSON. Valid against `schema.ts`.

/** `{ version: 1, stack, target, mount, role, against, succeeds, checks, trial?, diagnostics? }` */
export function renderLoginJson(report: LoginReport, diagnostics: readonly ShownDiagnostic[] = []): string {
  const { checks, trial, ...about } = report;
  return renderJson({
    version: 1,
    ...about,
    succeeds: wouldSucceed(report),
    checks: checks.map(({ place, ...check }) => ({ ...check, ...placeMember(place) })),
    ...(trial === undefined ? {} : { trial }),
    ...diagnosticsMember(diagnostics),
  });
}
