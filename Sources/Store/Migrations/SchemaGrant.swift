import PostgresClient

/// Rights of a role on objects of the schema: the list by which each migration repairs what is missing, and `doctor` tells of it.
///
/// Roles belong to the cluster and rights to the database, so either can be missing: after a restore without roles, after a role was
/// dropped and made again. Nothing is taken away: an administrator may have given more.
struct SchemaGrant: Sendable {
    /// What rights are on.
    enum Kind: String, Sendable {
        case schema
        /// A table or a view.
        case relation
        /// All functions of a name, whatever their arguments.
        case function
    }

    /// Who has them.
    let role: String
    /// What they are on.
    let kind: Kind
    /// The rights, with commas.
    let privileges: String
    /// The objects by their names.
    let objects: [String]

    private init(_ role: String, _ kind: Kind, _ privileges: String, _ objects: String) {
        self.role = role
        self.kind = kind
        self.privileges = privileges
        self.objects = objects.split(whereSeparator: \.isWhitespace).map(String.init)
    }

    /// The roles, none of which can log in, to grant to the users of each kind.
    static let roles = [
        "pushmta_runtime", "pushmta_marketing", "pushmta_monitoring", "pushmta_raw_sql", Store.webRole,
    ]

    /// All rights but those of `pushmta_runtime`, which has all on everything, and so are not listed.
    static let all: [SchemaGrant] = [
        SchemaGrant("pushmta_runtime", .schema, "USAGE", "pushmta pushmta_engine"),
        SchemaGrant("pushmta_marketing", .schema, "USAGE", "pushmta"),
        SchemaGrant("pushmta_monitoring", .schema, "USAGE", "pushmta"),
        SchemaGrant("pushmta_raw_sql", .schema, "USAGE", "pushmta_raw"),
        SchemaGrant(Store.webRole, .schema, "USAGE", "pushmta pushmta_engine"),
        SchemaGrant(
            "pushmta_marketing",
            .relation,
            "SELECT, INSERT, UPDATE, DELETE",
            "pushmta.delivery_exclusion pushmta.delivery_target"
        ),
        SchemaGrant(
            "pushmta_marketing",
            .relation,
            "SELECT",
            """
            pushmta.application pushmta.delivery_day pushmta.delivery_failures pushmta.delivery_progress pushmta.delivery_proof
            pushmta.delivery_statistics pushmta.delivery_statistics_by_application pushmta.delivery_statistics_by_hour
            pushmta.delivery_statistics_by_locale pushmta.delivery_statistics_by_version pushmta.delivery_statistics_detail
            pushmta.delivery_targeting pushmta.delivery_template pushmta.exclusion_list pushmta.exclusion_log
            pushmta.gateway_trouble pushmta.message_status pushmta.seed
            pushmta.service pushmta.subscription pushmta.target_mapping
            """
        ),
        SchemaGrant(
            "pushmta_monitoring",
            .relation,
            "SELECT",
            """
            pushmta.ambiguous_message pushmta.application pushmta.credential pushmta.delivery_day pushmta.delivery_failures
            pushmta.delivery_progress pushmta.delivery_proof pushmta.delivery_statistics
            pushmta.delivery_statistics_by_application pushmta.delivery_statistics_by_hour
            pushmta.delivery_statistics_by_locale pushmta.delivery_statistics_by_version pushmta.delivery_statistics_detail
            pushmta.feedback_service pushmta.feedback_worker pushmta.forgotten_subscription pushmta.gateway_trouble
            pushmta.message_status
            pushmta.mta_child pushmta.mta_host pushmta.retention_hold pushmta.retention_log pushmta.service
            """
        ),
        SchemaGrant(Store.webRole, .relation, "SELECT", "pushmta_engine.schema_version"),
        // A view's functions run with the rights of its reader.
        SchemaGrant(
            "public",
            .function,
            "EXECUTE",
            """
            pushmta_engine.circuit_of pushmta_engine.failure_reason pushmta_engine.failure_type
            pushmta_engine.is_integration_key pushmta_engine.is_label pushmta_engine.is_name pushmta_engine.is_plain
            pushmta_engine.is_push_token pushmta_engine.status_name pushmta_engine.token_problem
            """
        ),
        SchemaGrant(
            "pushmta_marketing",
            .function,
            "EXECUTE",
            """
            pushmta.add_exclusions pushmta.add_seed pushmta.add_targets pushmta.add_template pushmta.applications_of
            pushmta.check_content pushmta.check_delivery pushmta.set_retry_schedule
            pushmta.create_delivery pushmta.create_delivery_from_template pushmta.create_exclusion_list pushmta.delivery_status
            pushmta.duplicate_template pushmta.find_message pushmta.make_continuous pushmta.pause_delivery pushmta.proof_delivery
            pushmta.remove_exclusions pushmta.remove_seed pushmta.resume_delivery pushmta.send_message pushmta.set_opt_out
            pushmta.set_target pushmta.start_delivery pushmta.stop_delivery pushmta.undo_token_effects pushmta.unregister_device
            pushmta_engine.token_bar
            """
        ),
        SchemaGrant("pushmta_monitoring", .function, "EXECUTE", "pushmta.delivery_status"),
        SchemaGrant("pushmta_raw_sql", .function, "EXECUTE", "pushmta_raw.set_target_sql"),
        SchemaGrant(
            Store.webRole,
            .function,
            "EXECUTE",
            """
            pushmta.add_targets pushmta.find_message pushmta.make_continuous pushmta.pause_delivery pushmta.resume_delivery
            pushmta.send_message pushmta.set_opt_out pushmta.start_delivery pushmta.stop_delivery pushmta.unregister_device
            pushmta_engine.api_applications pushmta_engine.api_create_delivery pushmta_engine.api_deliveries
            pushmta_engine.api_device pushmta_engine.api_find_devices pushmta_engine.api_highest_number
            pushmta_engine.api_outcomes pushmta_engine.current_tracking_keys pushmta_engine.record_hits
            pushmta_engine.api_key_ids pushmta_engine.message_numbers_key pushmta_engine.note_web_certificate
            pushmta_engine.register_claims pushmta_engine.registration_proof_keys pushmta_engine.registration_trust
            pushmta_engine.register_devices pushmta_engine.registrable_applications pushmta_engine.tracking_keys
            pushmta_engine.tracking_position pushmta_engine.verify_api_key
            """
        ),
    ]
}

extension SchemaGrant {
    /// The roles that the cluster has not.
    static func missingRoles(_ connection: PostgresConnection) async throws -> [String] {
        let result = try await connection.execute(
            PostgresStatement(
                """
                SELECT u.name FROM unnest($1::text[]) WITH ORDINALITY u(name, place)
                WHERE NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = u.name) ORDER BY u.place
                """,
                [.textArray(roles)],
                prepare: false
            )
        )
        return try (0..<result.rowCount).map { try result.text($0, 0) }
    }

    /// What makes a role: whoever is a member of it has its rights, and nobody is it.
    static func creation(of role: String) -> String { "CREATE ROLE \(role) NOLOGIN;" }

    /// The statements that give the roles, all of which must be there, the rights that they have not.
    static func missing(_ connection: PostgresConnection) async throws -> [String] {
        let columns = all.flatMap { grant in grant.objects.map { (grant, $0) } }
        let result = try await connection.execute(
            PostgresStatement(
                missingSQL,
                [
                    .textArray(columns.map(\.0.role)), .textArray(columns.map(\.0.kind.rawValue)),
                    .textArray(columns.map(\.0.privileges)), .textArray(columns.map(\.1)),
                ],
                prepare: false
            )
        )
        return try (0..<result.rowCount).map { try result.text($0, 0) }
    }

    /// Partitions are reached through their tables.
    private static let missingSQL = """
        WITH wanted AS (
            SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) w(role, kind, privileges, object)
        ), of_runtime AS (
            SELECT c.oid, CASE c.relkind WHEN 'v' THEN 'SELECT' WHEN 'S' THEN 'USAGE' ELSE 'SELECT, INSERT, UPDATE, DELETE' END
                AS privileges, c.relkind = 'S' AS is_sequence
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname IN ('pushmta', 'pushmta_engine') AND c.relkind IN ('r', 'p', 'v', 'S') AND NOT c.relispartition
        )
        SELECT format('GRANT %s ON SCHEMA %I TO %I', w.privileges, n.nspname, w.role)
        FROM wanted w JOIN pg_namespace n ON n.nspname = w.object
        WHERE w.kind = 'schema' AND NOT has_schema_privilege(w.role, n.oid, w.privileges)
        UNION ALL
        SELECT format('GRANT %s ON %s TO %I', string_agg(p.name, ', ' ORDER BY p.place), w.object, w.role)
        FROM wanted w CROSS JOIN LATERAL string_to_table(w.privileges, ', ') WITH ORDINALITY p(name, place)
        WHERE w.kind = 'relation' AND NOT coalesce(has_table_privilege(w.role, to_regclass(w.object), p.name), true)
        GROUP BY w.object, w.role
        UNION ALL
        SELECT format('GRANT EXECUTE ON FUNCTION %I.%I(%s) TO %I', n.nspname, f.proname, pg_get_function_identity_arguments(f.oid),
            w.role)
        FROM wanted w JOIN pg_namespace n ON n.nspname = split_part(w.object, '.', 1)
        JOIN pg_proc f ON f.pronamespace = n.oid AND f.proname = split_part(w.object, '.', 2)
        WHERE w.kind = 'function' AND NOT has_function_privilege(w.role, f.oid, 'EXECUTE')
        UNION ALL
        SELECT format('GRANT %s ON %s %s TO pushmta_runtime', r.privileges, CASE WHEN r.is_sequence THEN 'SEQUENCE' ELSE 'TABLE' END,
            r.oid::regclass)
        FROM of_runtime r
        WHERE CASE WHEN r.is_sequence THEN NOT has_sequence_privilege('pushmta_runtime', r.oid, 'USAGE')
            ELSE EXISTS (SELECT FROM string_to_table(r.privileges, ', ') p WHERE NOT has_table_privilege('pushmta_runtime', r.oid, p)) END
        UNION ALL
        SELECT format('GRANT EXECUTE ON FUNCTION %I.%I(%s) TO pushmta_runtime', n.nspname, f.proname,
            pg_get_function_identity_arguments(f.oid))
        FROM pg_proc f JOIN pg_namespace n ON n.oid = f.pronamespace
        WHERE n.nspname IN ('pushmta', 'pushmta_engine') AND NOT has_function_privilege('pushmta_runtime', f.oid, 'EXECUTE')
        ORDER BY 1
        """
}

/// What of roles and rights an installation lacks.
public struct SchemaRights: Sendable {
    /// Statements that make the roles that are missing; an administrator of the cluster may run them.
    public let roles: [String]
    /// Statements that give the rights that are missing; migration runs them. Not looked at as long as a role is missing.
    public let grants: [String]

    /// What is missing.
    public init(roles: [String], grants: [String]) {
        self.roles = roles
        self.grants = grants
    }
}

extension Store {
    /// What of roles and rights the database lacks.
    public func missingRights() async throws -> SchemaRights {
        try await with { connection in
            let roles = try await SchemaGrant.missingRoles(connection)
            return SchemaRights(
                roles: roles.map(SchemaGrant.creation),
                grants: roles.isEmpty ? try await SchemaGrant.missing(connection) : []
            )
        }
    }
}
