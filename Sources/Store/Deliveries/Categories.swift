import PostgresClient
import PushCore

extension Store {
    /// The categories of all services, by service and name.
    package func categories() async throws -> [CategoryRow] {
        try await categories(from: "pushmta.category c ORDER BY c.service, c.name", [])
    }

    /// The categories of the services that some applications belong to, nil for all, with the rights of the web process.
    package func apiCategories(applications: [Int32]?) async throws -> [CategoryRow] {
        try await categories(
            from: "pushmta_engine.api_categories($1::integer[]) c",
            [applications.map(PostgresValue.int32Array) ?? .null]
        )
    }

    private func categories(from source: String, _ parameters: [PostgresValue]) async throws -> [CategoryRow] {
        let result = try await query(
            "SELECT c.service, c.name, c.label, c.is_transactional FROM \(source)",
            parameters
        )
        return try all(result) { row in
            CategoryRow(
                service: try row.text(),
                name: try row.text(),
                label: try row.text(),
                isTransactional: try row.bool()
            )
        }
    }

    /// Adds a category to a service, or changes it; nil leaves a value as it is.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is no such service, `invalid` for a name that no category can
    /// have, or `conflict` if it cannot become transactional.
    package func setCategory(
        _ name: String,
        service: String,
        label: String? = nil,
        isTransactional: Bool? = nil
    ) async throws {
        try NameCheck.label(label, of: "category")
        try await change(
            "pushmta.set_category($1, $2, $3::text, $4::boolean)",
            [
                .text(service), .text(name), .textOrNull(label), isTransactional.map(PostgresValue.bool) ?? .null,
            ]
        )
    }

    /// Removes a category that no delivery has and nobody has opted out of.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is none, `conflict` if it is used.
    package func dropCategory(_ name: String, service: String) async throws {
        try await change("pushmta.drop_category($1, $2)", [.text(service), .text(name)])
    }

    /// Records that the person with a device wants no deliveries of a category, or wants them again.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is no such device or category, `invalid` if it is transactional.
    package func setOptOut(_ id: Int64, category: String, _ optedOut: Bool) async throws {
        try await change(
            "pushmta.set_category_opt_out($1, $2, $3)",
            [.int64(id), .text(category), .bool(optedOut)]
        )
    }

    /// Records the same for all devices that a user has, or will have, in a service; returns how many were changed.
    package func setOptOut(ofUser key: String, service: String, category: String, _ optedOut: Bool) async throws
        -> Int64
    {
        try await change(
            "pushmta.set_user_category_opt_out($1, $2, $3, $4)",
            [.text(service), .text(key), .text(category), .bool(optedOut)]
        ).one { try $0.int64() }
    }

    /// Records that a user wants no messages, or wants them again, on all devices in a service; returns how many were
    /// changed.
    package func setOptOut(ofUser key: String, service: String, _ optedOut: Bool) async throws -> Int64 {
        try await change(
            "pushmta.set_user_opt_out($1, $2, $3)",
            [.text(service), .text(key), .bool(optedOut)]
        ).one { try $0.int64() }
    }

    /// Records the same for some applications, nil for all, with the rights of the web process.
    package func apiSetOptOut(ofUser key: String, applications: [Int32]?, category: String, _ optedOut: Bool)
        async throws -> Int64
    {
        try await change(
            "pushmta_engine.api_set_user_category_opt_out($1::integer[], $2, $3, $4)",
            [
                applications.map(PostgresValue.int32Array) ?? .null, .text(key), .text(category), .bool(optedOut),
            ]
        ).one { try $0.int64() }
    }

    /// The categories of a device's service, with its opt-outs.
    package func deviceCategories(_ id: Int64) async throws -> [DeviceCategory] {
        try all(
            try await query(
                "SELECT \(Self.deviceCategoryColumns) FROM pushmta_engine.device_categories($1) c",
                [.int64(id)]
            ),
            Self.deviceCategory
        )
    }

    /// The same for a signed-in user of the console.
    package func deviceCategories(_ id: Int64, by actor: ConsoleActor) async throws -> [DeviceCategory] {
        let result = try await query(
            """
            SELECT \(Self.deviceCategoryColumns)
            FROM pushmta_engine.console_categories(\(ConsoleActor.caller), $5) c
            """,
            actor.values + [.int64(id)]
        )
        return try all(result, Self.deviceCategory)
    }

    /// Opts the person with a device out of a category or in again, for a signed-in user, and logs it in the same
    /// transaction.
    package func setOptOut(_ id: Int64, category: String, _ optedOut: Bool, by actor: ConsoleActor) async throws {
        try await breakingCircles(
            "SELECT pushmta_engine.console_set_category(\(ConsoleActor.caller), $5, $6, $7)",
            actor.values + [.int64(id), .text(category), .bool(optedOut)]
        )
    }

    private static let deviceCategoryColumns = "c.name, c.label, c.is_transactional, c.since, coalesce(c.source, '')"

    private static func deviceCategory(_ row: inout RowReader) throws -> DeviceCategory {
        DeviceCategory(
            name: try row.text(),
            label: try row.text(),
            isTransactional: try row.bool(),
            optedOutSince: try row.timeOrNil(),
            source: try row.text()
        )
    }

    /// What a user opted out of on all devices, in some applications, nil for all.
    package func userOptOuts(_ key: String, applications: [Int32]?) async throws -> [UserOptOut] {
        let result = try await query(
            """
            SELECT u.service, u.application, u.category, u.said_at
            FROM pushmta_engine.api_user_opt_outs($1::integer[], $2) u
            """,
            [applications.map(PostgresValue.int32Array) ?? .null, .text(key)]
        )
        return try all(result) { row in
            UserOptOut(
                service: try row.text(),
                application: try row.text(),
                category: try row.textOrNil(),
                since: try row.time()
            )
        }
    }
}

/// An opt-out of a user on all devices, present and future, of one application.
package struct UserOptOut: Sendable, Hashable {
    package let service: String
    package let application: String
    /// The category; nil for everything.
    package let category: String?
    package let since: DatabaseTime
}
