import ArgumentParser
import Foundation
import PushCore
import Store

/// Options of commands that change whom a service trusts to say whose a device is.
struct ProofKeyOptions: ParsableArguments {
    @Option(
        help:
            "Who says which user a device belongs to: open (the device), signed (the device, with a token of your backend), server (the API and imports alone)."
    )
    var userKeyTrust: UserKeyTrust?

    @Flag(help: "Take the user keys away that were stored without a proof; their devices have to prove them.")
    var relink = false

    @Option(
        help:
            "The key that your backend's tokens are checked with: the PEM file of a P-256 public key (ES256), or a file with a secret of 32 bytes or more (HS256)."
    )
    var proofKey: String?

    @Option(name: .customLong("proof-key-id"), help: "What tokens name that key by (kid).")
    var proofKeyID: String?

    @Option(help: "The id of a proof key that is no longer accepted.")
    var dropProofKey: String?

    /// Whether none is given.
    var isEmpty: Bool { userKeyTrust == nil && proofKey == nil && dropProofKey == nil && !relink }

    func validate() throws {
        guard (proofKey == nil) == (proofKeyID == nil) else {
            throw ValidationError("--proof-key FILE and --proof-key-id KID go together.")
        }
        if let proofKeyID, proofKeyID.isEmpty || proofKeyID.utf8.count > Self.longestID || proofKeyID.utf8.contains(0) {
            throw ValidationError("A --proof-key-id has 1 to \(Self.longestID) bytes.")
        }
    }

    private static let longestID = 200

    /// Changes a service.
    func apply(to service: String, _ store: Store, _ settings: Settings) async throws {
        let row = try await store.service(named: service)
        if let proofKey, let proofKeyID {
            let material = try ProofKeyMaterial(file: proofKey)
            // As for credentials: what is sealed while the key changes is lost.
            try await CredentialWriter(store: store, settings: settings).locked {
                let key = try await material.row(proofKeyID, service: row.id, store, settings)
                try await store.setUserKeyTrust(service: service, userKeyTrust, adding: key, removing: dropProofKey)
            }
            StandardOutput.line("Tokens with kid \(proofKeyID) are checked with \(material.algorithm.rawValue).")
        } else if userKeyTrust != nil || dropProofKey != nil {
            try await store.setUserKeyTrust(service: service, userKeyTrust, removing: dropProofKey)
        }
        let trust = try await store.userKeyTrust(service: service)
        StandardOutput.line("User keys of service \(service): \(Self.meaning(trust))")
        guard relink else { return }
        guard trust != .open else {
            throw CommandFailure(
                .data,
                "The service takes the word of devices (user_key_trust open), so there is nothing to prove again: give --user-key-trust signed or server with --relink."
            )
        }
        let count = try await store.unlinkUnproven(service: service)
        StandardOutput.line("\(count) devices have lost a user key that nobody had proven.")
    }

    private static func meaning(_ trust: UserKeyTrust) -> String {
        switch trust {
        case .open: "open. Devices are believed; whoever has the app's integration key can register as anybody."
        case .signed: "signed. A device needs a token of your backend to be somebody's."
        case .server: "server. Only the API and imports say whose a device is."
        }
    }
}

/// A key that proofs are checked with, as a file has it.
struct ProofKeyMaterial {
    /// What it checks.
    let algorithm: UserKeyProofAlgorithm
    private let bytes: [UInt8]

    private static let remedy =
        "give the PEM file of a P-256 public key (openssl ec -in key.pem -pubout), or a file with a secret of \(UserKeyProofKey.shortestSecret) bytes or more"

    init(file: String) throws {
        let data = try SmallFile.contents(file, "proof key", Self.remedy)
        let text = String(decoding: data, as: UTF8.self)
        guard text.contains("-----BEGIN") else {
            // The line end is an editor's, and no part of a secret that others have.
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
            throw CommandFailure(.data, "\(file) holds no public key of the curve P-256: \(Self.remedy).")
        }
        algorithm = .es256
        bytes = point
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
