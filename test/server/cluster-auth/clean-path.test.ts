import { expect, it } from 'vitest';
import { cleanedUrl } from '../../../src/server/cluster-auth/read-request.ts';

it.each([
  ['/v1/auth//cluster/config', '/v1/auth/cluster/config'],
  ['/v1/auth/./cluster', '/v1/auth/cluster'],
  ['/v1/auth/x/../cluster/', '/v1/auth/cluster/'],
  ['/v1/auth/%2E%2E/sys?list=true&x=//', '/v1/sys?list=true&x=//'],
  ['/v1/a//b c', '/v1/a/b%20c'],
  ["/v1//a$&+,:;=@!'()*%3F", '/v1/a$&+,:;=@%21%27%28%29%2A%3F'],
  ['/../..', '/'],
])('%s is cleaned to %s', (url, cleaned) => {
  expect(cleanedUrl(url)).toBe(cleaned);
});

it.each([
  '/v1/auth/cluster/config',
  '/v1/auth/cluster/role/',
  '/v1/%63onfig',
  '/v1/%zz//',
  '/v1/a..b?x=../y',
])('%s needs no cleaning', (url) => {
  expect(cleanedUrl(url)).toBeUndefined();
});
