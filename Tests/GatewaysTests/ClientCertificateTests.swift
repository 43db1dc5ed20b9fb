import Foundation
import NIOSSL
import Testing
import X509

@testable import Gateways

@Suite("Client certificates")
struct ClientCertificateTests {
    private func error(_ bytes: [UInt8], _ passphrase: String) -> GatewayCredentialError? {
        do throws(GatewayCredentialError) {
            _ = try ClientCertificate(pkcs12: bytes, passphrase: passphrase)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "Files of old and new tools",
        arguments: [
            [], ["-legacy"],
            ["-legacy", "-certpbe", "PBE-SHA1-RC2-40", "-keypbe", "PBE-SHA1-3DES", "-macalg", "sha1"],
            ["-legacy", "-certpbe", "PBE-SHA1-RC2-128", "-keypbe", "PBE-SHA1-RC2-40"],
            ["-legacy", "-certpbe", "PBE-SHA1-2DES", "-keypbe", "PBE-SHA1-2DES"],
            ["-certpbe", "AES-128-CBC", "-keypbe", "AES-192-CBC", "-macalg", "sha512"],
            ["-certpbe", "NONE", "-keypbe", "NONE", "-macalg", "sha384"], ["-nomac"], ["-nomac", "-legacy"],
            ["-noiter", "-nomaciter"], ["-iter", "100000"], ["-name", "Äpp", "-caname", "Ä"],
        ]
    )
    func tools(_ options: [String]) throws {
        let files = try TestCertificates()
        defer { files.remove() }
        let pair = try files.pair(isRSA: options.contains("-legacy"))
        let bytes = try files.pkcs12(pair, options)
        let certificate = try ClientCertificate(pkcs12: bytes, passphrase: "secret phrase")
        #expect(certificate.certificateChain.count == 1)
        #expect(certificate.fingerprint.count == 64)
        #expect(certificate.name == "Apple Push Services: com.example.app")
        #expect(certificate.topics == ["com.example.app"])
        #expect(certificate.allowsProduction && !certificate.allowsSandbox && !certificate.namesBothEnvironments)
        #expect(abs(certificate.notAfter.timeIntervalSince(pair.certificate.notValidAfter)) < 1)
        if !options.contains("NONE") {
            let wrong = try #require(error(bytes, "Secret phrase"))
            #expect(wrong.code == .wrongPassphrase)
            #expect(wrong.message.contains("passphrase is not"))
            #expect(try #require(error(bytes, "")).message.contains("none was given"))
        }
        // TLS takes certificate and key.
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateChain = certificate.certificateChain.map { .certificate($0) }
        configuration.privateKey = .privateKey(certificate.privateKey)
        _ = try NIOSSLContext(configuration: configuration)
    }

    @Test("Passphrases", arguments: ["", "a", "pässwörd€", "clef 𝄞", String(repeating: "x", count: 300)])
    func passphrases(_ passphrase: String) throws {
        let files = try TestCertificates()
        defer { files.remove() }
        let pair = try files.pair()
        for options in [[], ["-legacy"]] {
            let bytes = try files.pkcs12(pair, passphrase: passphrase, options)
            _ = try ClientCertificate(pkcs12: bytes, passphrase: passphrase)
            #expect(error(bytes, passphrase + "y")?.code == .wrongPassphrase)
        }
    }

    @Test("A chain is sent in TLS' order, without the root")
    func chain() throws {
        let files = try TestCertificates()
        defer { files.remove() }
        let root = try files.pair(userID: "root", marks: [])
        let middle = try files.pair(userID: "middle", marks: [], issuer: root)
        let stranger = try files.pair(userID: "stranger", marks: [])
        let leaf = try files.pair(issuer: middle)
        let bytes = try files.pkcs12(leaf, chain: [root, stranger, middle])
        let certificate = try ClientCertificate(pkcs12: bytes, passphrase: "secret phrase")
        let expected = try [leaf, middle].map {
            try NIOSSLCertificate(bytes: Array($0.certificatePEM.utf8), format: .pem)
        }
        #expect(certificate.certificateChain == expected)
    }

    @Test("Apple's marks")
    func marks() throws {
        let files = try TestCertificates()
        defer { files.remove() }
        func read(_ topics: [String], _ userID: String?, _ marks: [UInt]) throws -> ClientCertificate {
            let bytes = try files.pkcs12(try files.pair(topics: topics, userID: userID, marks: marks))
            return try ClientCertificate(pkcs12: bytes, passphrase: "secret phrase")
        }
        let both = try read(["com.example.app", "com.example.app.voip"], "com.example.app", [1, 2])
        #expect(both.topics == ["com.example.app", "com.example.app.voip"])
        #expect(both.allowsSandbox && both.allowsProduction && both.namesBothEnvironments)
        try both.requireTopic("com.example.app")
        #expect(throws: GatewayCredentialError.self) { try both.requireTopic("com.example.other") }
        let sandbox = try read([], "com.example.app", [1])
        #expect(sandbox.allowsSandbox && !sandbox.allowsProduction)
        try sandbox.requireEnvironment(isSandbox: true)
        let wrong = #expect(throws: GatewayCredentialError.self) { try sandbox.requireEnvironment(isSandbox: false) }
        #expect(wrong?.code == .wrongApplication)
        #expect(wrong?.message.contains("is for the sandbox environment") == true)
        let plain = try read([], nil, [])
        #expect(plain.topics.isEmpty && plain.allowsSandbox && plain.allowsProduction && !plain.namesBothEnvironments)
        try plain.requireTopic("com.example.anything")
    }

    @Test("Time")
    func time() throws {
        let files = try TestCertificates()
        defer { files.remove() }
        let now = Date()
        let validity = now.addingTimeInterval(-1_000)..<now.addingTimeInterval(1_000)
        let bytes = try files.pkcs12(try files.pair(validity: validity))
        let certificate = try ClientCertificate(pkcs12: bytes, passphrase: "secret phrase")
        try certificate.requireValidity(at: now)
        let late = #expect(throws: GatewayCredentialError.self) {
            try certificate.requireValidity(at: now.addingTimeInterval(1_001))
        }
        #expect(late?.code == .expired)
        #expect(late?.message.contains("has expired on 20") == true)
        let early = #expect(throws: GatewayCredentialError.self) {
            try certificate.requireValidity(at: now.addingTimeInterval(-1_002))
        }
        #expect(early?.code == .expired)
    }

    @Test("Files without key, without certificate, with a strange key, of another kind")
    func refused() throws {
        let files = try TestCertificates()
        defer { files.remove() }
        let pair = try files.pair()
        let noKey = try files.pkcs12(pair, ["-nokeys"])
        #expect(error(noKey, "secret phrase")?.message.contains("no private key") == true)
        let noCertificate = try files.pkcs12(pair, ["-nocerts"])
        #expect(error(noCertificate, "secret phrase")?.message.contains("no certificate") == true)
        // A key that is not the certificate's: openssl makes no such file, so two whole ones are mixed.
        let mixed = PKCS12Contents(
            privateKeys: try PKCS12File.read(try files.pkcs12(try files.pair()), passphrase: "secret phrase")
                .privateKeys,
            certificates: try PKCS12File.read(noKey, passphrase: "secret phrase").certificates
        )
        #expect(throws: GatewayCredentialError.self) { try ClientCertificate(mixed) }
        let others: [[UInt8]] = [
            [], Array("secret phrase".utf8), Array(pair.certificatePEM.utf8), Array(pair.keyPEM.utf8), [0x30, 0x80],
            [0x30, 0x03, 0x02, 0x01, 0x03], [UInt8](repeating: 0x30, count: 100_000),
        ]
        for bytes in others {
            let found = try #require(error(bytes, "secret phrase"))
            #expect(found.code == .malformed)
            #expect(!found.message.contains("secret phrase"))
        }
        let slow = try files.pkcs12(pair, ["-iter", "3000000", "-nomac"])
        #expect(error(slow, "secret phrase")?.message.contains("rounds") == true)
    }

    @Test("A file in BER, as Keychain Access writes it")
    func indefiniteLengths() throws {
        let files = try TestCertificates()
        defer { files.remove() }
        let bytes = try files.pkcs12(try files.pair(isRSA: true), ["-legacy"])
        let certificate = try ClientCertificate(
            pkcs12: try IndefiniteLengths.rewrite(bytes),
            passphrase: "secret phrase"
        )
        #expect(certificate.topics == ["com.example.app"])
    }

    @Test("Nothing of the material shows")
    func secrecy() throws {
        let files = try TestCertificates()
        defer { files.remove() }
        let bytes = try files.pkcs12(try files.pair())
        let certificate = try ClientCertificate(pkcs12: bytes, passphrase: "secret phrase")
        let sealed = SealedCertificate(pkcs12: bytes, passphrase: "secret phrase")
        var dumped = ""
        dump(certificate, to: &dumped)
        dump(sealed, to: &dumped)
        dump(GatewayCredential.apnsCertificate(pkcs12: bytes, passphrase: "secret phrase"), to: &dumped)
        #expect(!dumped.contains("secret"))
        let again = try SealedCertificate(material: sealed.material)
        #expect(again.pkcs12 == bytes && again.passphrase == "secret phrase")
        #expect(throws: GatewayCredentialError.self) { try SealedCertificate(material: Array("secret".utf8)) }
    }

    @Test("Damaged files end nothing and take no time")
    func damaged() throws {
        let files = try TestCertificates()
        defer { files.remove() }
        let pair = try files.pair()
        let samples = try [
            ["-nomac", "-certpbe", "NONE", "-keypbe", "NONE"], ["-nomac", "-iter", "1"], ["-noiter", "-nomaciter"],
            ["-nomac", "-legacy", "-iter", "1"],
        ].map { try files.pkcs12(pair, $0) }
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(state: seed)
        let cases = ProcessInfo.processInfo.environment["PUSHMTA_FUZZ_CASES"].flatMap(Int.init) ?? 4_000
        var read = 0
        for _ in 0..<cases {
            var bytes = samples[Int.random(in: 0..<samples.count, using: &random)]
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: index)
                case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
                default: bytes.removeSubrange(index..<min(bytes.count, index + Int.random(in: 1..<64, using: &random)))
                }
                if bytes.isEmpty { bytes = [0] }
            }
            if error(bytes, "secret phrase") == nil { read += 1 }
        }
        #expect(read < cases, "seed \(seed)")
    }
}
