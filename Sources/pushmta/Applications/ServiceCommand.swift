import Administration
import ArgumentParser
import Foundation
import PushCore
import Store

struct ServiceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service",
        abstract: "Mobile application services: an app, as marketing sees it.",
        subcommands: [
            ServiceAddCommand.self, ServiceListCommand.self, ServiceSetCommand.self, ServiceShowCommand.self,
            ServiceHoursCommand.self,
            ServiceControlCommand.self,
        ]
    )
}

/// `pushmta service add NAME`.
struct ServiceAddCommand: SentenceCommand {
    static let configuration = CommandConfiguration(commandName: "add", abstract: "Add a service.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "Its name in commands and SQL, unique.")
    var name: String

    @Option(help: "Its name for people (default: the name).")
    var label: String?

    @Option(help: "The target mapping that its user keys are reconciled with.")
    var mapping: String?

    func execute(_ loaded: LoadedSettings) async throws {
        let row = try await StoreSession.run(loaded.values) { store in
            try await store.createService(name: name, label: label ?? name, mapping: mapping)
        }
        StandardOutput.line(
            "Service \(row.name) is set up. Next: pushmta app add NAME --service \(row.name) …",
            [("name", .text(row.name))]
        )
    }
}

/// `pushmta service set NAME …`: changes only what is given.
struct ServiceSetCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Change a service; options that are not given keep their values."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The service's name.")
    var name: String

    @Option(help: "Its name for people.")
    var label: String?

    @Option(help: "The target mapping that its user keys are reconciled with; an empty name removes it.")
    var mapping: String?

    @OptionGroup var proofs: ProofKeyOptions

    func validate() throws {
        guard label == nil, mapping == nil, proofs.isEmpty else { return }
        throw ValidationError("There is nothing to change: give --label, --mapping, --user-key-trust or a proof key.")
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let row = try await StoreSession.run(loaded.values) { store in
            let row = try await store.setService(name: name, label: label, mapping: mapping)
            if !proofs.isEmpty { try await proofs.apply(to: name, store, loaded.values) }
            return row
        }
        let reconciled =
            row.mapping.map { "its user keys are reconciled with mapping \($0)" } ?? "it has no target mapping"
        StandardOutput.line("Service \(row.name) was changed: \(reconciled).")
    }
}

struct ServiceListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the services.")

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let (rows, applications) = try await StoreSession.run(loaded.values) { store in
            (try await store.services(), try await store.applications())
        }
        var table = Table(["id", "name", "label", "mapping", "applications"])
        for row in rows {
            let names = applications.filter { $0.serviceID == row.id }.map(\.name)
            table.add([
                Cell(row.id), .text(row.name), .text(row.label), Cell(row.mapping),
                .text(names.joined(separator: ", ")),
            ])
        }
        table.show(json: json)
    }
}

/// `pushmta service show NAME`: the service, its applications, and the number of devices that subscribe to each.
struct ServiceShowCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a service with its applications.",
        discussion: "`pushmta subscription list --service NAME` shows its subscribers."
    )

    /// Services of other kinds, such as e-mail, are not part of this product.
    private static let type = "mobile_application"

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The service's name.")
    var name: String

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        var table = Table([
            "name", "platform", "environment", "bundle_id", "integration_key", "account", "credential", "subscriptions",
        ])
        var trust = UserKeyTrust.open
        var keys: [ProofKeyRow] = []
        let service = try await StoreSession.run(loaded.values) { store in
            let service = try await store.service(named: name)
            let accounts = try await store.accounts()
            for row in try await store.applications(ofService: name) {
                table.add([
                    .text(row.name), .text(row.platform.rawValue), .text(row.environment.rawValue),
                    .text(row.bundleID), .text(row.integrationKey),
                    Cell(accounts.first { $0.id == row.accountID }?.name),
                    .text(row.credentialID == nil ? "none" : "set"),
                    .integer(try await store.subscriptionCount(application: row.name)),
                ])
            }
            trust = try await store.userKeyTrust(service: name)
            keys = try await store.proofKeys(service: name)
            return service
        }
        let facts: [(String, Cell)] = [
            ("id", Cell(service.id)), ("name", .text(service.name)), ("label", .text(service.label)),
            ("type", .text(Self.type)), ("mapping", Cell(service.mapping)),
            ("user_key_trust", .text(trust.rawValue)),
            ("proof_keys", .text(keys.map { "\($0.keyID) (\($0.algorithm.rawValue))" }.joined(separator: ", "))),
        ]
        guard json else {
            var head = Table(facts.map(\.0))
            head.add(facts.map(\.1))
            StandardOutput.line("\(head.text)\n\n\(table.text)")
            return
        }
        StandardOutput.line(Cell.object(facts + [("applications", table.cell)]).json)
    }
}

/// Options that change whose word a service accepts for the owner of a device.
struct ProofKeyOptions: ParsableArguments {
    @Option(
        help:
            "Who decides which user a device belongs to: open (the device), signed (the device, with a token from your backend), server (only the API and imports)."
    )
    var userKeyTrust: UserKeyTrust?

    @Flag(help: "Remove the user keys that were stored without a proof; their devices have to prove them.")
    var relink = false

    @Option(
        help:
            "The key that verifies your backend's tokens: the PEM file of a P-256 public key (ES256), or a file with a secret of 32 bytes or more (HS256)."
    )
    var proofKey: String?

    @Option(name: .customLong("proof-key-id"), help: "The id by which tokens name that key (kid).")
    var proofKeyID: String?

    @Option(help: "The id of a proof key that is no longer accepted.")
    var dropProofKey: String?

    var isEmpty: Bool { userKeyTrust == nil && proofKey == nil && dropProofKey == nil && !relink }

    func validate() throws {
        guard (proofKey == nil) == (proofKeyID == nil) else {
            throw ValidationError("--proof-key FILE and --proof-key-id KID go together.")
        }
        if let proofKeyID, proofKeyID.isEmpty || proofKeyID.utf8.count > Self.maxIDLength || proofKeyID.utf8.contains(0)
        {
            throw ValidationError("--proof-key-id must have 1 to \(Self.maxIDLength) bytes.")
        }
    }

    private static let maxIDLength = 200

    func apply(to service: String, _ store: Store, _ settings: Settings) async throws {
        let row = try await store.service(named: service)
        if let proofKey, let proofKeyID {
            let material = try ProofKeyMaterial(file: proofKey)
            // As for credentials: what is sealed while the key changes is lost.
            try await CredentialWriter(store: store, settings: settings).locked {
                let key = try await material.row(proofKeyID, service: row.id, store, settings)
                try await store.setUserKeyTrust(service: service, userKeyTrust, adding: key, removing: dropProofKey)
            }
            StandardOutput.line("Tokens with kid \(proofKeyID) are verified with \(material.algorithm.rawValue).")
        } else if userKeyTrust != nil || dropProofKey != nil {
            try await store.setUserKeyTrust(service: service, userKeyTrust, removing: dropProofKey)
        }
        let trust = try await store.userKeyTrust(service: service)
        StandardOutput.line("User keys of service \(service): \(Self.meaning(trust))")
        guard relink else { return }
        guard trust != .open else {
            throw CommandFailure(
                .data,
                "The service trusts devices (user_key_trust open), so there is nothing to prove again: give --user-key-trust signed or server with --relink."
            )
        }
        let count = try await store.unlinkUnproven(service: service)
        StandardOutput.line("\(count) devices lost an unproven user key.")
    }

    private static func meaning(_ trust: UserKeyTrust) -> String {
        switch trust {
        case .open: "open. Devices are trusted; anyone with the app's integration key can register as any user."
        case .signed: "signed. A device needs a token from your backend to belong to a user."
        case .server: "server. Only the API and imports decide which user a device belongs to."
        }
    }
}

/// A key that verifies proofs, as read from a file.
struct ProofKeyMaterial {
    let algorithm: UserKeyProofAlgorithm
    private let bytes: [UInt8]

    private static let remedy =
        "give the PEM file of a P-256 public key (openssl ec -in key.pem -pubout), or a file with a secret of \(UserKeyProofKey.minSecretLength) bytes or more"

    init(file: String) throws {
        let data = try SmallFile.contents(file, "proof key", Self.remedy)
        let text = String(decoding: data, as: UTF8.self)
        guard text.contains("-----BEGIN") else {
            // A public key in another form must not be used as a secret: anyone who has it could then sign for any
            // user.
            guard !Self.isKeyOfAnotherForm(data, text) else {
                throw CommandFailure(.data, "\(file) looks like a key in DER or JSON form: \(Self.remedy).")
            }
            // The final newline comes from an editor, and is not part of the shared secret.
            let secret = data.last == UInt8(ascii: "\n") ? Array(data.dropLast()) : Array(data)
            guard UserKeyProofKey(id: "x", algorithm: .hs256, bytes: secret) != nil else {
                throw CommandFailure(.data, "The secret in \(file) has \(secret.count) bytes: \(Self.remedy).")
            }
            algorithm = .hs256
            bytes = secret
            return
        }
        guard !text.contains("PRIVATE KEY") else {
            throw CommandFailure(
                .data,
                "\(file) holds a private key, which only your backend may have: \(Self.remedy)."
            )
        }
        guard let point = UserKeyProofKey.publicKey(pem: text) else {
            throw CommandFailure(.data, "\(file) does not hold a P-256 public key: \(Self.remedy).")
        }
        algorithm = .es256
        bytes = point
    }

    /// Whether it is a DER sequence of the stated length, or a JSON object with a key type (RFC 7517, section 4.1).
    private static func isKeyOfAnotherForm(_ data: Data, _ text: String) -> Bool {
        let head = Array(data.prefix(4)).map(Int.init)
        if head.count == 4, head[0] == 0x30 {
            if head[1] < 0x80 { return data.count == head[1] + 2 }
            if head[1] == 0x81 { return data.count == head[2] + 3 }
            if head[1] == 0x82 { return data.count == head[2] << 8 + head[3] + 4 }
        }
        return text.contains("\"kty\"") || text.contains("ssh-") || text.contains("ecdsa-")
    }

    /// The key as it is stored; a secret is sealed.
    func row(_ keyID: String, service: Int32, _ store: Store, _ settings: Settings) async throws -> ProofKeyRow {
        let id = try await store.nextCredentialID()
        guard algorithm == .hs256 else {
            return ProofKeyRow(id: id, serviceID: service, keyID: keyID, algorithm: algorithm, publicKey: bytes)
        }
        let cipher = try CredentialKeyFile.keyring(settings).current
        return ProofKeyRow(
            id: id,
            serviceID: service,
            keyID: keyID,
            algorithm: algorithm,
            sealed: try cipher.seal(bytes, credentialID: id),
            sealKeyID: cipher.keyID
        )
    }
}
