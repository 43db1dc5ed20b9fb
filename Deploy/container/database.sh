#!/bin/bash
# The roles and the database, as Deploy/guide/install.md makes them: the image of PostgreSQL runs it once, when its volume is empty.
set -euo pipefail
psql --quiet --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres --set owner="$PUSHMTA_PASSWORD" \
    --set devices="$PUSHMTA_DEVICES_PASSWORD" --set people="$PUSHMTA_CONSOLE_PASSWORD" <<'SQL'
CREATE ROLE pushmta_runtime NOLOGIN;
CREATE ROLE pushmta_marketing NOLOGIN;
CREATE ROLE pushmta_tokens NOLOGIN;
CREATE ROLE pushmta_monitoring NOLOGIN;
CREATE ROLE pushmta_raw_sql NOLOGIN;
CREATE ROLE pushmta_events NOLOGIN;
CREATE ROLE pushmta_web NOLOGIN;
CREATE ROLE pushmta_console NOLOGIN;
CREATE ROLE pushmta_reader NOLOGIN;
CREATE ROLE pushmta_signal NOLOGIN;
-- The schema's owner: it migrates, sends and administers, sees who holds locks (pg_monitor), and makes no roles.
CREATE ROLE pushmta LOGIN PASSWORD :'owner' IN ROLE pushmta_reader, pushmta_signal, pg_monitor;
-- The web process and the console, which the world and people reach: neither can read a credential or write a table.
CREATE ROLE pushmta_devices LOGIN PASSWORD :'devices' IN ROLE pushmta_web;
CREATE ROLE pushmta_people LOGIN PASSWORD :'people' IN ROLE pushmta_console;
CREATE DATABASE pushmta OWNER pushmta;
REVOKE CONNECT ON DATABASE pushmta FROM PUBLIC;
GRANT CONNECT ON DATABASE pushmta TO pushmta_devices, pushmta_people, pushmta_marketing, pushmta_monitoring;
SQL
