/**
 * Codes of the lint: settings that a service accepts, or can be configured to accept, but that are probably mistakes. Most are
 * warnings; a stack can raise each to an error, or allow it (`spec.lint`).
 */
import type { CodeTable } from './code-entry.ts';

export const lintCodes = {
  // what destroys resources later
  'destroy-time-passed': {
    title: 'The declared time of a destroy has passed',
    class: 'invalid',
    warning: true,
    fix: 'remove the line',
  },
  // who may log in, and with what tokens
  'open-role': {
    title: 'Every account of a cluster may log in',
    class: 'invalid',
    warning: true,
    fix: 'name the accounts or the namespaces',
  },
  'open-selector': {
    title: 'A selector matches every namespace',
    class: 'invalid',
    warning: true,
    fix: 'name labels, or write null for no selector',
  },
  'impossible-name': {
    title: 'An entry of a role admits no login, because no cluster can have its name or label',
    class: 'invalid',
    warning: true,
    fix: 'write the name as the cluster has it, or remove it from the list',
  },
  'blank-audience': {
    title: 'A token that was issued for any other service is accepted',
    class: 'invalid',
    warning: true,
    fix: 'set the audience that tokens are issued for',
  },
  'long-lifetime': {
    title: 'A token can be valid for more than 32 days',
    class: 'invalid',
    warning: true,
    fix: 'write a shorter lifetime, and let tokens be renewed',
  },
  'unlimited-tokens': {
    title: 'Tokens can be renewed for ever',
    class: 'invalid',
    warning: true,
    fix: 'set "tokenExplicitMaxTtl", or remove the period',
  },
  'no-policies': {
    title: 'The list of policies is empty, so tokens can do almost nothing',
    class: 'invalid',
    warning: true,
    fix: 'list the policies that tokens carry, or leave the field out',
  },
  'refused-policy': {
    title: 'A role lists a policy that the service gives to no login, so every login fails',
    class: 'invalid',
    warning: true,
    fix: 'remove it from the list',
  },
  'too-many-texts': {
    title: 'A request would contain more strings than the service allows',
    class: 'invalid',
    fix: 'list fewer names, use patterns, or split it into several resources',
  },
  // how logins are checked
  'host-without-scheme': {
    title: 'A host has no scheme, so every login fails',
    class: 'invalid',
    warning: true,
    fix: 'write "https://" before it',
  },
  'blank-issuer': {
    title: 'The issuer of tokens should be verified, but none is set, so any issuer is accepted',
    class: 'invalid',
    warning: true,
    fix: 'name the issuer',
  },
  'unusable-host': {
    title: 'A host is not a valid address of an API server, so every login fails',
    class: 'invalid',
    warning: true,
    fix: 'write an address such as "https://10.0.0.1:6443", without white space, query and fragment',
  },
  'login-in-host': {
    title: 'A host contains a user name or password, which is not used and which all readers see',
    class: 'invalid',
    warning: true,
    fix: 'remove it, and replace the password',
  },
  'no-ca-cert': {
    title: 'There is no certificate to verify the cluster with, so logins may fail',
    class: 'invalid',
    warning: true,
    fix: 'set "clusterCaCert"',
  },
  'unreadable-ca-cert': {
    title: 'A PEM text contains no readable certificate, so every login fails',
    class: 'invalid',
    warning: true,
    fix: 'give the whole text from "-----BEGIN CERTIFICATE-----" on',
  },
  'pem-key-unused': {
    title: 'An element contains several keys, of which the service uses only the first',
    class: 'invalid',
    warning: true,
    fix: 'put each key into its own element',
  },
  'certificate-with-sha1': {
    title: 'A certificate is signed with SHA-1, which services no longer accept',
    class: 'invalid',
    warning: true,
    fix: 'have its CA issue a new one, signed with SHA-256',
  },
  'certificate-expires': {
    title: 'A certificate has expired, expires within 30 days, or is not valid yet',
    class: 'invalid',
    warning: true,
    fix: 'replace it before it expires',
  },
  // the stack
  'unused-default': {
    title: 'An entry of "spec.defaults" matches no manifest',
    class: 'invalid',
    warning: true,
    fix: 'correct its "match", or remove the entry',
  },
  // any resource
  'deprecated-field': {
    title: 'A field is deprecated by its API',
    class: 'invalid',
    warning: true,
    fix: 'use its replacement, or leave it out',
  },
  'doubtful-regex': {
    title: 'A text does not look like a regular expression',
    class: 'invalid',
    warning: true,
    fix: 'check it against the syntax of the service',
  },
  'kept-and-declared': {
    title: 'A tag is declared, and also matches "keep", which leaves tags to others',
    class: 'invalid',
    warning: true,
    fix: 'remove it from one of the two',
  },
} as const satisfies CodeTable;

export type LintCode = keyof typeof lintCodes;

export const lintCodeNames: readonly string[] = Object.keys(lintCodes);
