import Administration
import CurlClient
import Foundation
import Gateways
import MTAChild
import PostgresClient
import PushCore
import Store

/// The checks that need the database.
struct DatabaseChecks: Sendable {
    /// The settings that PostgreSQL needs to keep what is committed.
    private static let durable = [
        "fsync": ["on"], "full_page_writes": ["on"], "synchronous_commit": ["on", "remote_apply", "remote_write"],
    ]

    /// The settings of this host.
    let settings: Settings

    /// Runs the checks one after the other. Checks that depend on a failed one are skipped.
    func results() async -> [CheckResult] {
        let store: Store
        do {
            store = try await StoreSession.open(settings, role: "doctor")
        } catch let error as StoreError where error.code == .schema {
            return [
                CheckResult("database", .ok, "reachable"),
                CheckResult("schema", .failed, CommandFailure.words(of: error)),
            ]
        } catch {
            return [
                CheckResult("database", .failed, CommandFailure.words(of: error)),
                CheckResult("schema, durability, credentials, gateways", .skipped, "not checked without the database"),
            ]
        }
        var results = [
            await Self.writable(store), CheckResult("schema", .ok, "version \(Store.schemaVersion)"),
        ]
        results += await rights(store)
        results += await SessionChecks(settings: settings, store: store).results()
        results += await durability(store)
        results += await applications(store)
        results += await MappingChecks.results(store)
        results += await FeedbackCheck.results(store)
        results += await gateways(store)
        await store.close()
        return results
    }

    private func rights(_ store: Store) async -> [CheckResult] {
        do {
            return Self.rights(try await store.missingRights()) + Self.spare(try await store.spareRights())
                + [Self.sessions(hiddenFrom: try await store.userBlindToSessions())]
        } catch {
            return [CheckResult("roles", .failed, CommandFailure.words(of: error))]
        }
    }

    /// The result for the roles of the schema and their rights.
    static func rights(_ missing: SchemaRights) -> [CheckResult] {
        guard missing.roles.isEmpty else {
            let detail =
                "some are missing. As an administrator of the cluster, run: \(missing.roles.joined(separator: " ")) Then run pushmta migrate, which grants them their rights."
            return [
                CheckResult("roles", .failed, detail),
                CheckResult("rights of roles", .skipped, "not checked without the roles"),
            ]
        }
        let roles = CheckResult("roles", .ok, "all exist")
        // A statement that creates a function has many lines.
        guard let first = missing.grants.first?.prefix(while: { !$0.isNewline }) else {
            return [roles, CheckResult("rights of roles", .ok, "complete")]
        }
        return [
            roles,
            CheckResult(
                "rights of roles",
                .failed,
                "\(missing.grants.count) missing, beginning with: \(first). Run pushmta migrate as the schema's owner."
            ),
        ]
    }

    /// The result for roles with rights that none of them needs.
    static func spare(_ rights: SpareRights) -> [CheckResult] {
        let statements = rights.creatorRemedies
        let creation =
            statements.isEmpty
            ? CheckResult(
                "rights to create",
                .ok,
                "no other role may create objects in the product's schemas, and not every role in public"
            )
            : CheckResult(
                "rights to create",
                .failed,
                "objects created by other roles can run with the rights of a session that looks up a name. As an administrator, run: \(statements.joined(separator: " "))"
            )
        guard let owner = rights.ownerThatMakesRoles, let remedy = rights.ownerRemedy else { return [creation] }
        let detail =
            "\(owner), which owns the schema, may create roles and thereby gain the rights of most others. Only the first migrate needs that: \(remedy)"
        return [creation, CheckResult("schema's owner", .warning, detail)]
    }

    /// A row lock held by another role raises an alarm only if the start of its transaction is visible.
    private static func sessions(hiddenFrom user: String?) -> CheckResult {
        let subject = "sessions of other roles"
        guard let user else { return CheckResult(subject, .ok, "visible: alarms name the sessions that hold locks") }
        return CheckResult(
            subject,
            .warning,
            "hidden, so no alarm names a session that locks a row for long. As an administrator, run: GRANT pg_monitor TO \(user);"
        )
    }

    private static func writable(_ store: Store) async -> CheckResult {
        do {
            guard try await store.isReadOnly() else { return CheckResult("database", .ok, "reachable") }
            return CheckResult("database", .failed, "reachable. \(PostgresError.readOnlyWords).")
        } catch {
            return CheckResult("database", .failed, CommandFailure.words(of: error))
        }
    }

    private func durability(_ store: Store) async -> [CheckResult] {
        do {
            let found = try await store.durabilitySettings()
            let version = Self.version(found)
            let wrong = found.filter { setting in
                Self.durable[setting.name].map { !$0.contains(setting.value) } ?? false
            }
            let text = found.map { "\($0.name)=\($0.value)" }.joined(separator: ", ")
            guard wrong.isEmpty else {
                let names = wrong.map(\.name).joined(separator: ", ")
                let detail = "\(text). Turn on \(names): a crash may lose what was committed."
                return version + [CheckResult("durability", .failed, detail)]
            }
            let replicas = try await store.replicas()
            return version + [CheckResult("durability", .ok, text), Self.failOver(found, replicas: replicas.count)]
                + replicas.map(Self.replica)
        } catch {
            return [CheckResult("durability", .failed, CommandFailure.words(of: error))]
        }
    }

    /// The result for a server that is newer than those the product was tested on; nothing for others.
    static func version(_ found: [(name: String, value: String)]) -> [CheckResult] {
        let text = found.first { $0.name == "server_version" }?.value ?? ""
        let major = Int32(text.prefix { $0.isASCII && $0.isNumber })
        return major.flatMap { ServerCheck.warning(major: $0) }.map { [CheckResult("PostgreSQL", .warning, $0)] } ?? []
    }

    /// Whether a replica that becomes the primary has everything that was committed. Many installations have no
    /// replica, so this is a warning only if one follows and commits do not wait for it.
    static func failOver(_ found: [(name: String, value: String)], replicas: Int) -> CheckResult {
        let standbys = found.first { $0.name == "synchronous_standby_names" }?.value ?? ""
        guard standbys.isEmpty else {
            return CheckResult(
                "fail-over",
                .ok,
                "commits wait for \(standbys): a replica that takes over has all commits"
            )
        }
        let detail =
            "commits wait for no replica: one that takes over may lack the last commits, so that messages are sent twice or lost"
        guard replicas > 0 else { return CheckResult("fail-over", .ok, detail) }
        return CheckResult(
            "fail-over",
            .warning,
            "\(detail). Replicas that follow: \(replicas). Name them in synchronous_standby_names before one has to take over."
        )
    }

    /// A replica with a greater lag would lose much if commits do not wait for it, and would take long to take over
    /// if they do.
    private static let longLag = 10.0
    private static let wideLag: Int64 = 64 << 20

    /// The lag of a replica.
    static func replica(_ replica: ReplicaFacts) -> CheckResult {
        let subject = "replica \(replica.name)"
        guard let bytes = replica.lagBytes, !replica.syncState.isEmpty else {
            return CheckResult(
                subject,
                .warning,
                "its lag is hidden from this database user: GRANT pg_monitor TO that user"
            )
        }
        let seconds = replica.lagSeconds ?? 0
        let text = "\(replica.syncState), behind by \(Int(seconds.rounded(.up))) s, \(bytes >> 10) KiB"
        guard seconds > longLag || bytes > wideLag else { return CheckResult(subject, .ok, text) }
        return CheckResult(
            subject,
            .warning,
            "\(text): check its disk, its network, and queries on it that delay replay (max_standby_streaming_delay)"
        )
    }

    private func applications(_ store: Store) async -> [CheckResult] {
        do {
            let applications = try await store.applications()
            if applications.isEmpty {
                return [CheckResult("applications", .warning, "there are none: `pushmta app add` creates one")]
            }
            let accounts = try await store.accounts()
            let credentials = try await store.credentials()
            var results: [CheckResult] = []
            for application in applications {
                results.append(await credential(of: application, store))
                results += Self.route(
                    of: application,
                    accounts.first { $0.id == application.accountID },
                    credentials.first { $0.id == application.credentialID }
                )
            }
            return results
        } catch {
            return [CheckResult("applications", .failed, CommandFailure.words(of: error))]
        }
    }

    private func credential(of application: ApplicationRow, _ store: Store) async -> CheckResult {
        let subject = "credential of \(application.name)"
        guard application.credentialID != nil else {
            return CheckResult(
                subject,
                .failed,
                "there is none: `pushmta credential set \(application.name) --key FILE`"
            )
        }
        do {
            let row = try await store.credential(application: application.id)
            _ = try CredentialKeyFile.keyring(settings).open(row.sealed, keyID: row.sealKeyID, credentialID: row.id)
            let text = "\(row.kind.text) can be opened, fingerprint \(row.fingerprint.prefix(16))…"
            let left = try await store.credentials().first { $0.id == row.id }?.secondsLeft
            return Self.expiry(subject, text, secondsLeft: left, application: application.name)
        } catch {
            return CheckResult(subject, .failed, CommandFailure.words(of: error))
        }
    }

    /// The reason why a gateway would refuse every message of an application although everything can be opened and
    /// reached; empty if there is none.
    static func route(of application: ApplicationRow, _ account: AccountRow?, _ credential: CredentialNotice?)
        -> [CheckResult]
    {
        var problem = RouteCheck.problem(application, account, credential)
        if let account, let credential, !credential.kind.suits(account.connector) {
            problem =
                problem
                ?? "its credential is \(credential.kind.text), which connector \(account.connector.rawValue) of external account '\(account.name)' does not accept. Set another one, or choose another account"
        }
        return problem.map { [CheckResult("application \(application.name)", .failed, $0)] } ?? []
    }

    /// The result for a credential that opens: it may expire soon, or have expired.
    static func expiry(_ subject: String, _ text: String, secondsLeft: Double?, application: String) -> CheckResult {
        guard let secondsLeft else { return CheckResult(subject, .ok, text) }
        let detail = "\(text), \(ExpiryNotice.text(secondsLeft: secondsLeft))"
        guard let notice = ExpiryNotice(secondsLeft: secondsLeft) else { return CheckResult(subject, .ok, detail) }
        return CheckResult(
            subject,
            notice == .over ? .failed : .warning,
            "\(detail): get a new one and set it with `pushmta credential set \(application) --key FILE`"
        )
    }

    private func gateways(_ store: Store) async -> [CheckResult] {
        do {
            let proxy = try settings.nmac.gatewayProxy(environment: ProcessInfo.processInfo.environment)
            var results: [CheckResult] = []
            for account in try await store.accounts() where account.active {
                let check = GatewayCheck(
                    account: account,
                    trustedCertsChain: settings.nmac.relay.trustedCertsChain,
                    proxy: proxy
                )
                results += await check.results() + check.remarks
            }
            return results
        } catch {
            return [CheckResult("gateways", .failed, CommandFailure.words(of: error))]
        }
    }
}

/// Whether a gateway can be reached and its certificate is trusted.
struct GatewayCheck: Sendable {
    /// How long an operator should have to wait for the response, in milliseconds.
    private static let timeoutMilliseconds = 10_000

    private struct Options: Decodable {
        let caFile: String?

        enum CodingKeys: String, CodingKey {
            case caFile = "ca_file"
        }
    }

    /// The account of the gateway.
    let account: AccountRow
    /// The authorities to trust if the account names none.
    let trustedCertsChain: String
    /// The proxy to the gateway; nil for none.
    let proxy: GatewayProxy?

    /// What an operator should know about the connector.
    var remarks: [CheckResult] {
        guard let remark = kind?.remark else { return [] }
        return [CheckResult("connector of \(account.name)", .warning, remark)]
    }

    private var kind: (any GatewayKind)? { GatewayRegistry.standard.kind(of: account.connector) }

    private var handshake: GatewayHandshake { kind?.handshake ?? GatewayHandshake() }

    /// The file of authorities that the account itself names.
    private var ownFile: String? { (try? JSONBody.decode(Options.self, from: account.options.utf8))?.caFile }

    /// The authorities that verify the account's gateway; nil for the system's.
    private var authorities: String? { ownFile ?? (trustedCertsChain.isEmpty ? nil : trustedCertsChain) }

    /// The results for the connection, the clock, and the authorities.
    func results() async -> [CheckResult] {
        if let authorities {
            do {
                try CertificateAuthorities.check(file: authorities, ofAccount: ownFile == nil ? nil : account.name)
            } catch {
                return [CheckResult("gateway of \(account.name)", .failed, error.description)]
            }
        }
        var date: String?
        let way = await way(&date)
        return [way] + [date.flatMap(clock), apple].compactMap(\.self)
    }

    /// Compares the clocks, if the gateway's response has a date: our clock dates the tokens.
    private func clock(_ date: String) -> CheckResult? {
        guard let theirs = ClockCheck.date(date) else { return nil }
        return ClockCheck.result("clock of \(account.host)", ours: Date(), theirs: theirs, uncertainty: 1)
    }

    /// Apple's certificates have had another root since 2025. Systems with older authorities, and hand-made files,
    /// may lack it.
    private var apple: CheckResult? {
        guard account.host.hasSuffix("push.apple.com") else { return nil }
        let subject = "authorities for \(account.name)"
        let name = TrustedRoots.appleRootName
        do {
            guard let roots = try TrustedRoots(file: authorities) else {
                let text = "the system has no authorities: apt-get install ca-certificates"
                return CheckResult(subject, .failed, text)
            }
            guard !roots.holdsAppleRoot else { return CheckResult(subject, .ok, "\(roots.file) has \(name)") }
            return CheckResult(
                subject,
                .failed,
                "\(roots.file) lacks \(name), the root of Apple's certificates since 2025: update ca-certificates, or add the root to the file"
            )
        } catch {
            return CheckResult(
                subject,
                .failed,
                "\(authorities ?? "the system's authorities") cannot be read: \(error)"
            )
        }
    }

    private func way(_ date: inout String?) async -> CheckResult {
        let subject = "gateway of \(account.name)"
        let address = GatewayAddress(host: account.host, port: Int(account.port)).description
        var request = CurlRequest(
            url: "https://\(address)/",
            timeoutMilliseconds: Self.timeoutMilliseconds,
            connectTimeoutMilliseconds: Self.timeoutMilliseconds,
            certificateAuthorityFile: authorities,
            proxy: proxy?.curl(for: account.host) ?? .none
        )
        // Most gateways speak only HTTP/2, and some end the handshake with a client that does not offer it.
        request.offersHTTP2 = handshake.offersHTTP2
        do {
            date = try await CurlClient().perform(request).header("date")
        } catch let error where error.mayHaveBeenSent {
            // The handshake succeeded. The gateway need not respond to such a request.
            return CheckResult(subject, .ok, "\(address) is reachable and its certificate is trusted")
        } catch let error where wantsCertificate(error) {
            return CheckResult(
                subject,
                .ok,
                "\(address) is reachable, its certificate is trusted, and it asks for the application's certificate"
            )
        } catch {
            return CheckResult(subject, .failed, "\(address): \(error.message)")
        }
        return CheckResult(subject, .ok, "\(address) is reachable and its certificate is trusted")
    }

    private func wantsCertificate(_ error: CurlError) -> Bool {
        handshake.endsWithoutCertificate && error.code == .tls && error.message.contains(" alert ")
    }
}

/// Whether a feedback worker acts.
enum FeedbackCheck {
    static func results(_ store: Store) async -> [CheckResult] {
        do {
            let alarms = try await store.alarms()
            return worker(alarms, isActing: try await store.isFeedbackWorkerActing())
                + alarms.filter { $0.code == "spools_waiting" }.map {
                    result($0, "tracking spools of host \($0.subject)")
                }
                + (try await store.feedbackServices()).map(result)
                + alarms.filter { $0.code == "retention_held" }.map { result($0, "retention of \($0.subject)") }
        } catch {
            return [CheckResult("feedback worker", .failed, CommandFailure.words(of: error))]
        }
    }

    /// Delays are harmless: a feedback service keeps its tokens for days.
    static func result(_ service: FeedbackServiceRow) -> CheckResult {
        let subject = "feedback service of \(service.application), account \(service.account)"
        guard service.trouble.isEmpty else { return CheckResult(subject, .warning, service.trouble) }
        return CheckResult(
            subject,
            .ok,
            service.endedAt == nil ? "not read yet" : "read; it has returned \(service.tokens) tokens in total"
        )
    }

    /// A result that is also an alarm.
    private static func result(_ alarm: AlarmRow, _ subject: String) -> CheckResult {
        CheckResult(subject, alarm.severity == .critical ? .failed : .warning, alarm.sentence)
    }

    /// Without a worker, supervisors apply token events, and statistics wait. An installation may do without one.
    private static func worker(_ alarms: [AlarmRow], isActing: Bool) -> [CheckResult] {
        let subject = "feedback worker"
        let wrong = alarms.filter { $0.subjectKind == "feedback" }.map { result($0, subject) }
        let right =
            isActing ? "one acts" : "none acts, and nothing waits for one; `pushmta feedback` runs one"
        return wrong.isEmpty ? [CheckResult(subject, .ok, right)] : wrong
    }
}

/// Whether the views of target mappings can be used.
enum MappingChecks {
    /// One result per mapping; none if there are no mappings.
    static func results(_ store: Store) async -> [CheckResult] {
        do {
            var results: [CheckResult] = []
            for (row, problem) in try await store.mappings() {
                let subject = "target mapping \(row.name)"
                if let problem {
                    results.append(
                        CheckResult(
                            subject,
                            .failed,
                            "\(problem) Deliveries that use it wait until their validity ends."
                        )
                    )
                    continue
                }
                let readsAll = try await store.readsWholeView(try await store.mapping(named: row.name))
                let slow =
                    "no index covers \(row.keyColumn): each look-up reads all of \(row.view). Create an index on the key."
                results.append(
                    readsAll
                        ? CheckResult(subject, .warning, slow)
                        : CheckResult(subject, .ok, "reads \(row.view) by \(row.keyColumn)")
                )
            }
            return results
        } catch {
            return [CheckResult("target mappings", .failed, CommandFailure.words(of: error))]
        }
    }
}
