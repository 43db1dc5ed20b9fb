-- Who may call what.

-- Functions are everybody's unless that is taken back. What roles have instead is in rights.sql, which each migration looks at, as
-- rights can be lost: in a restore without roles, with a role that is dropped and made again.
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA pushmta, pushmta_engine, pushmta_raw FROM PUBLIC;
