/** The checks of a login before it is made, in the order of the service, and the result of a trial. */
import type { Place } from './diagnostic.ts';

/** In the order in which the service makes them (wire/cluster-auth 3). */
export const loginCheckNames = [
  'role',
  'address',
  'config',
  'jwt',
  'signature',
  'claims',
  'issuer',
  'audience',
  'times',
  'account',
  'name',
  'namespace',
  'alias',
  'review',
  'policies',
] as const;

export type LoginCheckName = (typeof loginCheckNames)[number];

export interface LoginCheck {
  readonly name: LoginCheckName;
  /** `open`: only the service or its cluster can decide it */
  readonly result: 'passed' | 'failed' | 'open';
  /** a clause without a full stop; values quoted */
  readonly message: string;
  /** for a failed check: what to change, as an instruction */
  readonly fix?: string;
  /** the field that the fix is about */
  readonly field?: LoginField;
  /** the place of that field in the manifests, or of the document that lacks it */
  readonly place?: Place;
}

export interface LoginField {
  readonly of: 'role' | 'config';
  /** as in a manifest */
  readonly name: string;
}

/** The result of a real login whose token was revoked at once. */
export type LoginTrial =
  | {
      readonly granted: true;
      /** lifetime of the token in seconds; 0: it never ends */
      readonly lifetime: number;
      readonly policies: readonly string[];
      /** the service's warnings about the login */
      readonly warnings: readonly string[];
      /** why the token could not be revoked; absent when it was */
      readonly unrevoked?: string;
    }
  | {
      readonly granted: false;
      /** the response of the service, as a clause */
      readonly why: string;
    };

export interface LoginReport {
  readonly stack: string;
  readonly target: string;
  readonly mount: string;
  readonly role: string;
  /** the role and config that the JWT was checked against: those of the service, or those of the manifests */
  readonly against: 'live' | 'declared';
  readonly checks: readonly LoginCheck[];
  /** absent when no login was tried */
  readonly trial?: LoginTrial;
}

/** The first check that fails, for which the service would refuse the login. */
export function firstFailure({ checks }: Pick<LoginReport, 'checks'>): LoginCheck | undefined {
  return checks.find(({ result }) => result === 'failed');
}

/** Whether nothing is known that prevents the login. */
export function wouldSucceed(report: Pick<LoginReport, 'checks' | 'trial'>): boolean {
  return firstFailure(report) === undefined && report.trial?.granted !== false;
}
