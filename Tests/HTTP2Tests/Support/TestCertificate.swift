import Foundation
import NIOSSL

/// A self-signed certificate for `localhost` and 127.0.0.1, made by `openssl` for each test run.
struct TestCertificate: Sendable {
    let certificateFile: String
    let keyFile: String

    static let shared = Result { try TestCertificate("localhost") }
    /// Another one of the same kind, which no client trusts.
    static let stranger = Result { try TestCertificate("stranger") }

    private init(_ name: String) throws {
        let folder = try TemporaryFolder.shared.get()
        certificateFile = folder + "/\(name).crt"
        keyFile = folder + "/\(name).key"
        try ExternalProcess.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                "-keyout", keyFile, "-out", certificateFile,
            ]
        )
    }

    func serverContext(protocols: [String] = ["h2"]) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(certificateFile).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: keyFile, format: .pem))
        )
        configuration.applicationProtocols = protocols
        return try NIOSSLContext(configuration: configuration)
    }
}
