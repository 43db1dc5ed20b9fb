import Crypto
import Foundation
import GatewayTestSupport
import NIOSSL
import SwiftASN1
import Testing
import X509

@testable import Gateways

@Suite("Client certificates")
struct ClientCertificateTests {
    private func error(_ bytes: [UInt8], _ passphrase: String) -> GatewayCredentialError? {
        do throws(GatewayCredentialError) {
            _ = try ClientCertificate(file: bytes, passphrase: passphrase)
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
            ["-certpbe", "DES-EDE3-CBC", "-keypbe", "DES-EDE3-CBC", "-macalg", "md5"],
            ["-legacy", "-certpbe", "PBE-SHA1-RC4-128", "-keypbe", "PBE-SHA1-RC4-40"],
        ]
    )
    func tools(_ options: [String]) throws {
        let files = try TestCertificates()
        defer { files.remove() }
        let pair = try files.pair(isRSA: options.contains("-legacy"))
        let bytes = try files.pkcs12(pair, options)
        let certificate = try ClientCertificate(file: bytes, passphrase: "secret phrase")
        #expect(certificate.certificateChain.count == 1)
        let digest = SHA256.hash(data: try pair.certificate.serializeAsPEM().derBytes)
        #expect(certificate.fingerprint == digest.map { String(format: "%02x", $0) }.joined())
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
        // The TLS library accepts certificate and key.
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
            _ = try ClientCertificate(file: bytes, passphrase: passphrase)
            #expect(error(bytes, passphrase + "y")?.code == .wrongPassphrase)
        }
    }

    @Test("A chain is sent in TLS order, without the root")
    func chain() throws {
        let files = try TestCertificates()
        defer { files.remove() }
        let root = try files.pair(userID: "root", marks: [])
        let middle = try files.pair(userID: "middle", marks: [], issuer: root)
        let stranger = try files.pair(userID: "stranger", marks: [])
        let leaf = try files.pair(issuer: middle)
        let bytes = try files.pkcs12(leaf, chain: [root, stranger, middle])
        let certificate = try ClientCertificate(file: bytes, passphrase: "secret phrase")
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
            return try ClientCertificate(file: bytes, passphrase: "secret phrase")
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
        let certificate = try ClientCertificate(file: bytes, passphrase: "secret phrase")
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

    @Test("Of several certificates of one key, one that is valid now and valid longest is used")
    func renewed() throws {
        let files = try TestCertificates()
        defer { files.remove() }
        let now = Date()
        func at(_ from: TimeInterval, _ to: TimeInterval) -> Range<Date> {
            now.addingTimeInterval(from * 86_400)..<now.addingTimeInterval(to * 86_400)
        }
        let old = try files.pair(validity: at(-400, -10))
        let renewed = try files.pair(validity: at(-20, 300), keyOf: old)
        let shorter = try files.pair(validity: at(-30, 100), keyOf: old)
        let coming = try files.pair(validity: at(10, 500), keyOf: old)
        func read(_ leaf: TestCertificates.Pair, _ chain: [TestCertificates.Pair]) throws -> ClientCertificate {
            try ClientCertificate(file: try files.pkcs12(leaf, chain: chain), passphrase: "secret phrase")
        }
        for (leaf, chain) in [
            (old, [renewed, shorter, coming]), (renewed, [old, coming]), (coming, [old, shorter, renewed]),
        ] {
            let certificate = try read(leaf, chain)
            #expect(abs(certificate.notAfter.timeIntervalSince(renewed.certificate.notValidAfter)) < 1)
            try certificate.requireValidity(at: now)
        }
        #expect(abs(try read(old, [coming]).notAfter.timeIntervalSince(coming.certificate.notValidAfter)) < 1)
    }

    @Test("An additional certificate that the library cannot read is ignored")
    func strangers() throws {
        let files = try TestCertificates()
        defer { files.remove() }
        let pair = try files.pair()
        for key in [
            ["-newkey", "rsa:1024"], ["-newkey", "ed448"],
            ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:brainpoolP256r1"],
        ] {
            let file = files.folder.appendingPathComponent("stranger.pem").path
            try OpenSSL.run(
                ["req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=stranger", "-keyout", "/dev/null", "-out", file]
                    + key
            )
            let stranger = try String(contentsOfFile: file, encoding: .utf8)
            let both = TestCertificates.Pair(
                certificate: pair.certificate,
                certificatePEM: pair.certificatePEM + stranger,
                keyPEM: pair.keyPEM
            )
            let bytes = try files.pkcs12(both)
            #expect(
                try ClientCertificate(file: bytes, passphrase: "secret phrase").topics == ["com.example.app"],
                "\(key)"
            )
        }
    }

    @Test("Certificate and key in PEM, as OpenSSL reads them")
    func pem() throws {
        let files = try TestCertificates()
        defer { files.remove() }
        let root = try files.pair(userID: "root", marks: [])
        let pair = try files.pair(issuer: root)
        let crlf = { (text: String) in text.replacing("\n", with: "\r\n") }
        let texts = [
            pair.certificatePEM + pair.keyPEM, pair.keyPEM + root.certificatePEM + pair.certificatePEM,
            "\u{FEFF}Bag Attributes\n    friendlyName: Apple\n" + crlf(pair.certificatePEM) + "\n\nsubject=/x\n"
                + crlf(pair.keyPEM) + "and more",
        ]
        for text in texts {
            let certificate = try ClientCertificate(file: Array(text.utf8), passphrase: "")
            #expect(certificate.topics == ["com.example.app"])
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.certificateChain = certificate.certificateChain.map { .certificate($0) }
            configuration.privateKey = .privateKey(certificate.privateKey)
            _ = try NIOSSLContext(configuration: configuration)
        }
        let rsa = try files.pair(isRSA: true)
        _ = try ClientCertificate(file: Array((rsa.certificatePEM + rsa.keyPEM).utf8), passphrase: "")
        let other = error(Array((pair.certificatePEM + rsa.keyPEM).utf8), "")
        #expect(other?.message.contains("none of its private keys belongs") == true)
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
        // A key that does not match the certificate: openssl makes no such file, so two valid ones are mixed.
        let mixed = PKCS12File.Contents(
            privateKeys: try PKCS12File.read(try files.pkcs12(try files.pair()), passphrase: "secret phrase")
                .privateKeys,
            certificates: try PKCS12File.read(noKey, passphrase: "secret phrase").certificates
        )
        #expect(throws: GatewayCredentialError.self) { try ClientCertificate(mixed) }
        let others: [[UInt8]] = [
            [], Array("secret phrase".utf8), [0x30, 0x80],
            [0x30, 0x03, 0x02, 0x01, 0x03], [UInt8](repeating: 0x30, count: 100_000),
            // Indefinite lengths, nested, and without an end.
            (0..<30_000).flatMap { _ in [0x30, 0x80] }, (0..<30_000).flatMap { _ in [0x24, 0x80] },
            (0..<30_000).flatMap { _ in [0xA0, 0x80] },
        ]
        for bytes in others {
            let found = try #require(error(bytes, "secret phrase"))
            #expect(found.code == .malformed)
            #expect(!found.message.contains("secret phrase"))
        }
        #expect(error(Array(pair.certificatePEM.utf8), "")?.message.contains("holds no private key") == true)
        #expect(error(Array(pair.keyPEM.utf8), "")?.message.contains("holds no certificate") == true)
        let der = try pair.certificate.serializeAsPEM().derBytes
        #expect(error(der, "")?.message.contains("certificate in DER without its private key") == true)
        let slow = try files.pkcs12(pair, ["-iter", "3000000", "-nomac"])
        #expect(error(slow, "secret phrase")?.message.contains("rounds") == true)
        // Each of the two derivations alone is allowed.
        let slowTogether = try files.pkcs12(pair, ["-iter", "1100000", "-nomac", "-certpbe", "AES-256-CBC"])
        #expect(error(slowTogether, "secret phrase")?.message.contains("rounds") == true)
    }

    @Test("Every number of rounds is checked, including the authentication code's")
    func rounds() throws {
        let files = try TestCertificates()
        defer { files.remove() }
        let pair = try files.pair()
        // The integer 100,000 is in the file three times: for certificate, key and, at the end, authentication code.
        let integer: [UInt8] = [0x02, 0x03, 0x01, 0x86, 0xA0]
        func replace(_ bytes: [UInt8], _ which: Int, _ new: [UInt8]) throws -> [UInt8] {
            let places = bytes.indices.dropLast(4).filter { Array(bytes[$0..<$0 + 5]) == integer }
            try #require(places.count > which)
            return Array(bytes[..<places[which]] + new + bytes[(places[which] + 5)...])
        }
        // Without an authentication code, openssl encrypts certificates only if told to.
        for options in [["-certpbe", "AES-256-CBC"], ["-legacy", "-certpbe", "PBE-SHA1-RC2-40"]] {
            let plain = try files.pkcs12(pair, ["-iter", "100000", "-nomac"] + options)
            let coded = try files.pkcs12(pair, ["-iter", "100000"] + options)
            for (bytes, which) in [(plain, 0), (plain, 1), (coded, 2)] {
                let many = try replace(bytes, which, [0x02, 0x03, 0x7F, 0xFF, 0xFF])
                #expect(error(many, "secret phrase")?.message.contains("rounds") == true)
                let negative = try replace(bytes, which, [0x02, 0x03, 0x80, 0x00, 0x00])
                #expect(error(negative, "secret phrase")?.message.contains("damaged") == true)
            }
        }
    }

    @Test("An unsupported algorithm is named")
    func algorithms() throws {
        let files = try TestCertificates()
        defer { files.remove() }
        let pair = try files.pair()
        let plain = try files.pkcs12(pair, ["-nomac"])
        let coded = try files.pkcs12(pair)
        func change(_ bytes: [UInt8], _ old: [UInt8], _ last: UInt8) throws -> [UInt8] {
            let place = try #require(bytes.indices.last { bytes[$0...].starts(with: old) })
            var bytes = bytes
            bytes[place + old.count - 1] = last
            return bytes
        }
        // PBKDF2, AES-256-CBC, and the authentication code's SHA-256.
        let cases: [([UInt8], String)] = [
            (try change(plain, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05, 0x0C], 0x0E), "1.2.840.113549.1.5.14"),
            (
                try change(plain, [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01, 0x2A], 0x7F),
                "2.16.840.1.101.3.4.1.127"
            ),
            (
                try change(coded, [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01], 0x7F),
                "2.16.840.1.101.3.4.2.127"
            ),
        ]
        for (bytes, algorithm) in cases {
            #expect(error(bytes, "secret phrase")?.message.contains("(algorithm \(algorithm))") == true)
        }
    }

    @Test("Without OpenSSL's legacy provider, current files open, and old ones say what is missing")
    func noLegacyProvider() throws {
        let files = try TestCertificates()
        defer { files.remove() }
        let pair = try files.pair()
        let folder = files.folder.path
        for options in [[], ["-certpbe", "PBE-SHA1-3DES", "-keypbe", "PBE-SHA1-3DES", "-macalg", "sha1"]] {
            let contents = try PKCS12File.read(
                try files.pkcs12(pair, options),
                passphrase: "secret phrase",
                providers: folder
            )
            #expect(contents.privateKeys.count == 1 && contents.certificates.count == 1)
        }
        let old = try files.pkcs12(pair, ["-legacy"])
        let problem = #expect(throws: PKCS12File.Problem.self) {
            try PKCS12File.read(old, passphrase: "secret phrase", providers: folder)
        }
        let message = ClientCertificate.error(try #require(problem), hasPassphrase: true).message
        #expect(message.contains("RC2-40-CBC") && message.contains("legacy.so") && message.contains("export it again"))
        // With a wrong passphrase, that is reported instead.
        let wrong = #expect(throws: PKCS12File.Problem.self) {
            try PKCS12File.read(old, passphrase: "Secret phrase", providers: folder)
        }
        #expect(ClientCertificate.error(try #require(wrong), hasPassphrase: true).code == .wrongPassphrase)
    }

    @Test("Many files in parallel")
    func atOnce() async throws {
        let files = try TestCertificates()
        defer { files.remove() }
        let pair = try files.pair()
        let samples = try [[], ["-legacy"]].map { try files.pkcs12(pair, $0) }
        let read = await withTaskGroup(of: String?.self) { group in
            for index in 0..<200 {
                group.addTask {
                    try? ClientCertificate(file: samples[index % 2], passphrase: "secret phrase").fingerprint
                }
            }
            return await group.reduce(into: Set<String?>()) { $0.insert($1) }
        }
        #expect(read.count == 1 && !read.contains(nil))
    }

    @Test("A file in BER, as Keychain Access writes it")
    func indefiniteLengths() throws {
        let files = try TestCertificates()
        defer { files.remove() }
        let bytes = try files.pkcs12(try files.pair(isRSA: true), ["-legacy"])
        let certificate = try ClientCertificate(
            file: try IndefiniteLengths.rewrite(bytes),
            passphrase: "secret phrase"
        )
        #expect(certificate.topics == ["com.example.app"])
    }

    @Test("No material is shown")
    func secrecy() throws {
        let files = try TestCertificates()
        defer { files.remove() }
        let bytes = try files.pkcs12(try files.pair())
        let certificate = try ClientCertificate(file: bytes, passphrase: "secret phrase")
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

    @Test("Damaged files neither crash nor take long")
    func damaged() throws {
        let files = try TestCertificates()
        defer { files.remove() }
        let pair = try files.pair()
        let samples = try [
            ["-nomac", "-certpbe", "NONE", "-keypbe", "NONE"], ["-nomac", "-iter", "1"], ["-noiter", "-nomaciter"],
            ["-nomac", "-legacy", "-iter", "1"], ["-nomac", "-iter", "1", "-certpbe", "AES-256-CBC"],
            ["-nomac", "-iter", "1", "-legacy", "-certpbe", "PBE-SHA1-RC2-40"],
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
