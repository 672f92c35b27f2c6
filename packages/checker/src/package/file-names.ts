export const CONTRACT_FILE = 'verifier-contract.json';
export const PROTOCOL_FILE = 'review-protocol.json';
export const PROBLEM_FILE = 'problem.json';
export const STATEMENT_FILE = 'statement.md';
export const CAMPAIGN_FILE = 'campaign.json';
export const SKILL_FILE = 'SKILL.md';
export const LINK_ENDING = '.link.json';
