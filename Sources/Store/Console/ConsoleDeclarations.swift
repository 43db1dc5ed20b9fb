import PostgresClient
import PushCore

/// What a signed-in user declares, changes and resumes. The database checks the session and logs the change in the same
/// transaction. Each function throws ``StoreError`` with `sqlState` `PM090` if the session has ended, and `PM091` if
/// its role may not do this.
extension Store {
    /// Adds a service.
    ///
    /// Throws `conflict` if the name is taken.
    package func declareService(name: String, label: String, by actor: ConsoleActor) async throws {
        try NameCheck.name(name, of: "service")
        try NameCheck.label(label, of: "service")
        try await query(
            "SELECT pushmta_engine.console_add_service(\(ConsoleActor.caller), $5, $6)",
            actor.values + [.text(name), .text(label)]
        )
    }

    /// Changes a service.
    ///
    /// Throws `notFound`, and `conflict` with `sqlState` `PM132` if it was changed since. Throws `invalid`, with
    /// `PM136` if it is to ask for proofs of user keys and has no key to verify them.
    ///
    /// - Parameter version: the result of ``serviceFacts(_:)`` when the form was loaded.
    package func changeService(_ facts: ServiceFacts, version: Int64, by actor: ConsoleActor) async throws {
        try NameCheck.label(facts.label, of: "service")
        try await query(
            "SELECT pushmta_engine.console_change_service(\(ConsoleActor.caller), $5, $6, $7, $8, $9)",
            actor.values + [
                .text(facts.name), .int64(version), .text(facts.label),
                .text(facts.mapping ?? ""), .text(facts.trust.rawValue),
            ]
        )
    }

    /// Replaces the sending hours of a service, its days off, its policy and its time zone.
    ///
    /// Throws `notFound`, `conflict` with `sqlState` `PM132` if the service was changed since, or `invalid` for hours that
    /// it cannot have.
    ///
    /// - Parameter version: the result of ``serviceFacts(_:)`` when the form was loaded.
    package func changeSendingHours(
        ofService name: String,
        _ hours: SendingHours,
        version: Int64,
        by actor: ConsoleActor
    ) async throws {
        try await query(
            "SELECT pushmta_engine.console_change_hours(\(ConsoleActor.caller), $5, $6, $7::text::jsonb)",
            actor.values + [.text(name), .int64(version), .text(try JSONBody.text(hours))]
        )
    }

    /// Adds an external account.
    ///
    /// Throws `conflict` if the name is taken, `invalid` if the host is not valid.
    ///
    /// - Parameter options: as in ``createAccount(name:connector:host:port:options:)``.
    package func declareAccount(
        name: String,
        connector: Connector,
        host: String,
        port: Int32,
        options: String = "{}",
        by actor: ConsoleActor
    ) async throws {
        try NameCheck.name(name, of: "external account")
        try Self.check(options, name, connector)
        let host = try Self.checked(host, name)
        try await query(
            "SELECT pushmta_engine.console_add_account(\(ConsoleActor.caller), $5, $6, $7, $8, $9)",
            actor.values + [
                .text(name), .text(connector.rawValue), .text(host), .int32(port),
                .json(options),
            ]
        )
    }

    /// Adds applications, all of them or none.
    ///
    /// Throws `conflict` if a name or an integration key is taken, `invalid` if a gateway would refuse each message.
    ///
    /// - Parameter original: the application whose variables, sounds, subscription parameters and icon they get.
    /// - Returns: their ids.
    @discardableResult
    package func declareApplications(_ all: [NewApplication], copying original: Int32? = nil, by actor: ConsoleActor)
        async throws -> [Int32]
    {
        for new in all { try await check(new) }
        return try await transaction { transaction in
            var ids: [Int32] = []
            for new in all {
                let values: [PostgresValue] = [
                    .text(new.service), .text(new.name), .text(new.label),
                    .text(new.platform.rawValue), .text(new.environment.rawValue), .text(new.integrationKey),
                    .text(new.bundleID), .text(new.messageIDFormat.rawValue), .text(new.account ?? ""),
                    original.map { .int32($0) } ?? .null,
                ]
                let result = try await transaction.execute(
                    PostgresStatement(Self.addApplicationSQL, actor.values + values)
                )
                ids.append(try result.one { try $0.int32() })
            }
            return ids
        }
    }

    private static let addApplicationSQL = """
        SELECT pushmta_engine.console_add_application(\(ConsoleActor.caller), $5, $6, $7, $8, $9, $10, $11, $12, $13, $14::integer)
        """

    private func check(_ new: NewApplication) async throws {
        try NameCheck.name(new.name, of: "application")
        try NameCheck.label(new.label, of: "application")
        try NameCheck.integrationKey(new.integrationKey)
        if let problem = BundleID.problem(new.bundleID, new.platform) {
            throw StoreError(.invalid, "Application \"\(new.name)\": \(problem).")
        }
        guard let name = new.account else { return }
        let account = try await account(named: name)
        guard let problem = RouteCheck.problem(new.platform, new.environment, account) else { return }
        throw StoreError(.invalid, "Application \"\(new.name)\": \(problem).")
    }

    /// Ends those waits of an application's messages that can be ended.
    ///
    /// Throws `notFound`.
    ///
    /// - Parameter believingRefusals: the push tokens that the gateway refused really are bad.
    package func resumeApplication(_ id: Int32, believingRefusals: Bool, by actor: ConsoleActor) async throws {
        try await query(
            "SELECT pushmta_engine.console_resume(\(ConsoleActor.caller), $5, $6)",
            actor.values + [.int32(id), .bool(believingRefusals)]
        )
    }

    /// Reserves the id of a credential that is about to be uploaded, because the seal authenticates it.
    package func nextCredentialID(by actor: ConsoleActor) async throws -> Int64 {
        try await query("SELECT pushmta_engine.console_credential_id(\(ConsoleActor.caller))", actor.values)
            .one { try $0.int64() }
    }

    /// Stores a sealed credential and binds it to an application, as
    /// ``saveCredential(_:application:allowsBothEnvironments:)`` does.
    package func saveCredential(
        _ credential: CredentialRow,
        application: String,
        allowsBothEnvironments: Bool,
        by actor: ConsoleActor
    ) async throws {
        try await query(
            """
            SELECT pushmta_engine.console_save_credential(\(ConsoleActor.caller), $5, $6, $7, $8, $9, $10, $11,
                to_timestamp($12::bigint / 1000000.0), $13)
            """,
            actor.values + [
                .text(application), .int64(credential.id), .text(credential.kind.rawValue),
                .text(credential.sealKeyID), .bytes(credential.sealed), .json(credential.attributes),
                .text(credential.fingerprint), .int64OrNull(credential.expiresAt?.microsecondsSince1970),
                .bool(allowsBothEnvironments),
            ]
        )
    }

    /// The seed addresses that a test push of an application can go to, by name, with their labels.
    package func testAddresses(application id: Int32, limit: Int, by actor: ConsoleActor) async throws -> [(
        name: String, label: String
    )] {
        let result = try await query(
            "SELECT s.name, s.label FROM pushmta_engine.console_seeds(\(ConsoleActor.caller), $5, $6) s",
            actor.values + [.int32(id), .int32(Int32(clamping: limit))]
        )
        return try all(result) { row in (try row.text(), try row.text()) }
    }

    /// Sends one message of an application to one address, to test whether it arrives.
    ///
    /// Throws `notFound`, and `invalid` if it could not be sent.
    ///
    /// - Returns: its delivery.
    package func sendTestPush(
        application id: Int32,
        content: String,
        to addressee: TestAddressee,
        by actor: ConsoleActor
    ) async throws -> Int64 {
        let (seed, subscription): (PostgresValue, PostgresValue) =
            switch addressee {
            case .seed(let name): (.text(name), .null)
            case .subscription(let id): (.null, .int64(id))
            }
        return try await query(
            "SELECT pushmta_engine.console_test_push(\(ConsoleActor.caller), $5, $6, $7::text, $8::bigint)",
            actor.values + [.int32(id), .text(content), seed, subscription]
        ).one { try $0.int64() }
    }
}

/// The addressee of a test push.
package enum TestAddressee: Sendable, Hashable {
    /// A seed address, by name.
    case seed(String)
    /// A subscription, by id.
    case subscription(Int64)
}
