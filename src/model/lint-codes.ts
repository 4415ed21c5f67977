/**
 * Codes of the lint: what a service accepts, or may be told to accept, and what is hardly intended. A stack raises them to
 * errors or allows them (`spec.lint`), so each stands here alone.
 */
import type { CodeTable } from './code-entry.ts';

export const lintCodes = {
  // what destroys resources later
  'destroy-time-passed': {
    title: 'A declared time of a destroy has passed',
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
    title: 'A cluster cannot have a name that a role admits, so that it admits nobody',
    class: 'invalid',
    warning: true,
    fix: 'write the name as the cluster has it, or take it out of the list',
  },
  'blank-audience': {
    title: 'A token that was made for any other service is accepted',
    class: 'invalid',
    warning: true,
    fix: 'set the audience that tokens are made for',
  },
  'long-lifetime': {
    title: 'A token may live for more than 32 days',
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
    title: 'The list of policies is empty, so that tokens can do next to nothing',
    class: 'invalid',
    warning: true,
    fix: 'list the policies that tokens carry, or leave the field out',
  },
  'refused-policy': {
    title: 'A policy of a role is given to no login, and every login would fail',
    class: 'invalid',
    warning: true,
    fix: 'take it out of the list',
  },
  'too-many-texts': {
    title: 'A request would hold more texts than the service takes',
    class: 'invalid',
    fix: 'list fewer names, use patterns, or divide it among several',
  },
  // how logins are checked
  'host-without-scheme': {
    title: 'A host has no scheme, and every login would fail',
    class: 'invalid',
    warning: true,
    fix: 'write "https://" before it',
  },
  'blank-issuer': {
    title: 'The issuer of tokens is to be verified, and none is named, so that none is compared',
    class: 'invalid',
    warning: true,
    fix: 'name the issuer',
  },
  'unusable-host': {
    title: 'A host is no base address of an API server, and every login would fail',
    class: 'invalid',
    warning: true,
    fix: 'write an address such as "https://10.0.0.1:6443", without white space, query and fragment',
  },
  'login-in-host': {
    title: 'A host holds a user name or password, which nothing uses and all readers see',
    class: 'invalid',
    warning: true,
    fix: 'take it out, and replace the password',
  },
  'no-ca-cert': {
    title: 'There is no certificate to trust the cluster by, and logins may fail',
    class: 'invalid',
    warning: true,
    fix: 'set "clusterCaCert"',
  },
  'unreadable-ca-cert': {
    title: 'A PEM text holds no certificate that can be read, and every login would fail',
    class: 'invalid',
    warning: true,
    fix: 'give the whole text from "-----BEGIN CERTIFICATE-----" on',
  },
  'pem-key-unused': {
    title: 'An element holds several keys, of which the service uses the first',
    class: 'invalid',
    warning: true,
    fix: 'make each key an element of its own',
  },
  'certificate-with-sha1': {
    title: 'A certificate is signed with SHA-1, which services no longer accept',
    class: 'invalid',
    warning: true,
    fix: 'let its authority sign a new one with SHA-256',
  },
  'certificate-expires': {
    title: 'A certificate has expired, expires within 30 days, or is not valid yet',
    class: 'invalid',
    warning: true,
    fix: 'replace it before it expires',
  },
  // any resource
  'deprecated-field': {
    title: 'A field is deprecated by its API',
    class: 'invalid',
    warning: true,
    fix: 'write its successor, or leave it out',
  },
  'doubtful-regex': {
    title: 'A text does not look like a regular expression',
    class: 'invalid',
    warning: true,
    fix: 'check it where expressions of that service are explained',
  },
  'kept-and-declared': {
    title: 'A tag is declared, and is said to be looked after by someone else',
    class: 'invalid',
    warning: true,
    fix: 'remove it from one of the two',
  },
} as const satisfies CodeTable;

export type LintCode = keyof typeof lintCodes;

export const lintCodeNames: readonly string[] = Object.keys(lintCodes);
