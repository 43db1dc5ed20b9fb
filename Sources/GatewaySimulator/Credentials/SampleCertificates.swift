import Crypto
import Foundation
import NIOSSL
import PushCore
import SwiftASN1
import X509

/// The senders' sample certificates, as `.p12` files in the state folder.
struct SampleCertificates {
    /// The description of the certificates that an earlier start has created.
    private struct Known: Codable, Equatable {
        var topics: [String]
        /// The authority that signed them; with another authority they are unusable.
        var authority: String
        var passphrase: String
    }

    /// A year, like Apple's.
    private static let lifetimeSeconds = 365.0 * 86_400
    private static let record = "apns-certificates.json"

    let folder: StateFolder
    let authority: CertificateAuthority
    let topics: [String]

    /// Creates certificates that are missing or no longer valid, and returns the files' passphrase.
    func make() throws(SimulatorError) -> String {
        let known = folder.read(Self.record).flatMap { try? JSONBody.decode(Known.self, from: $0.utf8) }
        do {
            let identity = try authority.certificate.serializeAsPEM().pemString
            if let known, known.topics == topics, known.authority == identity, Self.kinds.allSatisfy(isThere) {
                return known.passphrase
            }
            let wanted = Known(
                topics: topics,
                authority: identity,
                passphrase: String((0..<20).map { _ in "abcdefghijkmnpqrstuvwxyz23456789".randomElement() ?? "x" })
            )
            for kind in Self.kinds { try write(kind, passphrase: wanted.passphrase) }
            let json = try JSONEncoder().encode(wanted)
            try folder.write(Self.record, String(decoding: json, as: UTF8.self) + "\n", isSecret: true)
            return wanted.passphrase
        } catch let error as SimulatorError {
            throw error
        } catch {
            throw SimulatorError(.credential, "cannot create the sample certificates in \(folder.path) (\(error))")
        }
    }

    /// The path of the file of a kind.
    static func file(_ kind: Kind, _ folder: StateFolder) -> String { folder.file("apns-\(kind.rawValue).p12") }

    /// Where a certificate may be used, or that it is expired.
    enum Kind: String, CaseIterable {
        case sandbox, production, both, expired
    }

    private static let kinds = Kind.allCases

    private func isThere(_ kind: Kind) -> Bool {
        FileManager.default.fileExists(atPath: Self.file(kind, folder))
    }

    private func write(_ kind: Kind, passphrase: String) throws {
        let marks: [UInt] =
            switch kind {
            case .sandbox: [1]
            case .production: [2]
            case .both, .expired: [1, 2]
            }
        let now = Date()
        let start = now.addingTimeInterval(kind == .expired ? -2 * Self.lifetimeSeconds : -3_600)
        let key = P256.Signing.PrivateKey()
        let certificate = try authority.issueSenderCertificate(
            key,
            topics: topics,
            marks: marks,
            validity: start..<start.addingTimeInterval(Self.lifetimeSeconds)
        )
        let pem = Array(try certificate.serializeAsPEM().pemString.utf8)
        let bundle = NIOSSLPKCS12Bundle(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(pem),
            privateKey: try NIOSSLPrivateKey(bytes: Array(key.pemRepresentation.utf8), format: .pem)
        )
        let bytes = try bundle.serialize(passphrase: Array(passphrase.utf8))
        try StateFolder.write(Self.file(kind, folder), Data(bytes), isSecret: true)
    }
}
