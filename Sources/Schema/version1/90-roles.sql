-- The right to call functions.

-- Every role may call a function unless that right is revoked. The rights of roles are in rights.sql. Each migration checks them, because
-- rights can be lost: in a restore without roles, or when a role is dropped and recreated.
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA pushmta, pushmta_engine, pushmta_raw FROM PUBLIC;
