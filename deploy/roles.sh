#!/bin/sh
# Runs once, when the database is made: the two roles of Earmark and their limits, as docs/operations.md describes them.
set -eu
owner=$(cat /run/secrets/owner_password)
app=$(cat /run/secrets/app_password)
psql -v ON_ERROR_STOP=1 -v owner="$owner" -v app="$app" --username "$POSTGRES_USER" --dbname postgres <<'SQL'
create role earmark_owner login password :'owner';
create role earmark_app login password :'app';
alter role earmark_app set statement_timeout = '30s';
alter role earmark_app set lock_timeout = '5s';
alter role earmark_app set idle_in_transaction_session_timeout = '60s';
alter role earmark_owner set lock_timeout = '2s';
create database earmark owner earmark_owner;
\connect earmark
create extension vector;
alter schema public owner to earmark_owner;
grant usage on schema public to earmark_app;
alter default privileges for role earmark_owner in schema public grant select, insert, update, delete on tables to earmark_app;
alter default privileges for role earmark_owner in schema public grant usage, select on sequences to earmark_app;
SQL
