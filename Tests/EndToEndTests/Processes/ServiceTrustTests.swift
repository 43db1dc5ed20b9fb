import Foundation
import PushCore
import Store
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory

/// The questions before creating something that strangers could use, and the protection of secrets.
@Suite struct ServiceTrustTests {
    private let folder: TemporaryFolder
    private let program: Program
    private let database: TestDatabase
    private let store: Store

    init() async throws {
        folder = try TemporaryFolder()
        program = try Program.pushmta()
        database = try await TestDatabase.create(.migrated)
        store = Store(configuration: database.configuration())
    }

    private var environment: [String: String] {
        [
            "PUSHMTA_DATABASE_URL": database.connectionString,
            "PUSHMTA_CREDENTIAL_KEY_FILE": folder.path + "/credential.key",
            "PUSHMTA_MTA_WORKING_PATH": folder.path + "/journal",
        ]
    }

    @discardableResult
    private func run(_ line: String, _ words: [String] = [], expect status: Int32 = 0) async throws -> Program.Ending {
        let arguments = line.split(separator: " ").map(String.init) + words
        let ending = try await program.run(arguments, environment: environment)
        #expect(ending.status == status, "\(arguments): \(ending.output) \(ending.errors)")
        return ending
    }

    @Test func withoutATerminalTheFormatOfMessageIDsIsAskedFor() async throws {
        try await run("service add shop")
        let refused = try await Program(path: "/bin/sh").run(
            ["-c", "'\(program.path)' app add ios --service shop --platform ios --bundle-id com.shop </dev/null"],
            environment: environment
        )
        #expect(refused.status == 64, "\(refused.errors)")
        for word in ["--message-id-format int32", "--message-id-format uuid", "Integer.valueOf"] {
            #expect(refused.errors.contains(word), "\(refused.errors)")
        }
        #expect(try await store.applications().isEmpty)
        try await run(
            "app add ios --service shop --platform ios --bundle-id com.shop --message-id-format int32"
        )
        #expect(try await store.applications().map(\.messageIDFormat) == [.int32])
        await store.close()
    }

    @Test func proofKeysAreCheckedKeptSealedAndSealedAnew() async throws {
        try await run("service add shop")
        try await run("credential create-key \(folder.path)/credential.key")
        try await run("service set shop --user-key-trust signed", expect: 65)
        try await run("service set shop --user-key-trust trusted", expect: 64)
        try await run("service set shop --relink", expect: 65)
        let secret = try folder.write("a secret of the backend, 32 bytes\n", to: "secret")
        let short = try folder.write("a short secret\n", to: "short")
        try await run("service set shop --proof-key \(secret)", expect: 64)
        try await run("service set shop --proof-key-id k1 --proof-key \(short)", expect: 65)
        let openssl =
            "cd '\(folder.path)' && openssl ecparam -name prime256v1 -genkey -noout -out private.pem && openssl ec -in private.pem -pubout -out public.pem"
        #expect(try await Program(path: "/bin/sh").run(["-c", openssl]).status == 0)
        let refused = try await run(
            "service set shop --proof-key-id k1 --proof-key \(folder.path)/private.pem",
            expect: 65
        )
        #expect(refused.errors.contains("private key") && !refused.errors.contains("BEGIN"))
        // A public key in another form could be stored as a secret that everyone may know.
        let forms =
            "cd '\(folder.path)' && openssl ec -in private.pem -pubout -outform DER -out public.der"
            + " && openssl ec -in private.pem -outform DER -out private.der"
            + " && openssl ecparam -name secp384r1 -genkey -noout -out other.pem"
            + " && openssl ec -in other.pem -pubout -out p384.pem"
        #expect(try await Program(path: "/bin/sh").run(["-c", forms]).status == 0)
        // The key of RFC 7515, appendix A.3.
        let jwk = """
            {"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
            "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}
            """
        _ = try folder.write(jwk, to: "key.jwk")
        _ = try folder.write("-----BEGIN PUBLIC KEY-----\nMFkw\n-----END PUBLIC KEY-----\n", to: "cut.pem")
        for file in ["public.der", "private.der", "key.jwk", "p384.pem", "cut.pem"] {
            let answer = try await run(
                "service set shop --proof-key-id k1 --proof-key \(folder.path)/\(file)",
                expect: 65
            )
            #expect(answer.errors.contains("P-256") && answer.errors.contains(file), "\(answer.errors)")
        }
        #expect(try await store.proofKeys(service: "shop").isEmpty)
        try await run("service set shop --user-key-trust signed --proof-key-id k1 --proof-key \(secret)")
        let taken = try await run(
            "service set shop --proof-key-id k1 --proof-key \(folder.path)/public.pem",
            expect: 65
        )
        #expect(taken.errors.contains("--drop-proof-key"), "\(taken.errors)")
        try await run("service set shop --proof-key-id k2 --proof-key \(folder.path)/public.pem")
        let shown = try await run("service show shop")
        #expect(shown.output.contains("signed") && shown.output.contains("k1 (HS256), k2 (ES256)"))
        let row = try await store.proofKeys(service: "shop")[0]
        let sealed = try #require(row.sealed)
        #expect(!String(decoding: sealed, as: UTF8.self).contains("backend"))
        // A rotation re-seals proof keys too; otherwise the secret would be lost with the old key.
        try await run("credential rotate-key --shared")
        try await run("credential rotate-key --drop-old")
        let after = try await store.proofKeys(service: "shop")[0]
        #expect(after.sealKeyID != row.sealKeyID)
        let keys = try CredentialKeyring(text: String(contentsOfFile: folder.path + "/credential.key", encoding: .utf8))
        let opened = try keys.open(try #require(after.sealed), keyID: after.sealKeyID ?? "", credentialID: after.id)
        #expect(String(decoding: opened, as: UTF8.self) == "a secret of the backend, 32 bytes")
        try await run("service set shop --relink")
        try await run("service set shop --drop-proof-key k1")
        try await run("service set shop --drop-proof-key k1", expect: 65)
        await store.close()
    }
}
