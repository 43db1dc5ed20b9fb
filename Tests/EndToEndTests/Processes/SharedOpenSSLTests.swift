import COpenSSL
import Foundation
import PostgresClient
import TestSupport
import Testing

@testable import Administration
@testable import Gateways
@testable import Laboratory

/// One process uses OpenSSL for client certificates, for PostgreSQL through libpq, and for requests through libcurl.
@Suite struct SharedOpenSSLTests {
    @Test func oldCiphersAreForCertificateFilesOnly() async throws {
        let folder = try TemporaryFolder()
        let key = folder.path + "/key.pem"
        let certificate = folder.path + "/certificate.pem"
        let openssl = Program(path: "/usr/bin/openssl")
        let request = [
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=old", "-keyout", key, "-out", certificate,
        ]
        try #require(try await openssl.run(request).status == 0)
        let export = ["pkcs12", "-export", "-legacy", "-in", certificate, "-inkey", key, "-passout", "pass:secret"]
        try #require(try await openssl.run(export + ["-out", folder.path + "/old.p12"]).status == 0)
        let file = Array(try Data(contentsOf: URL(fileURLWithPath: folder.path + "/old.p12")))

        let cluster = try await TestCluster.start(tlsPort: FreePort.find())
        let configuration = PostgresConfiguration(
            cluster.tlsConnectionString(sslmode: "verify-full"),
            applicationName: PostgresApplicationName(role: "test", host: "localhost", pid: 1)
        )
        // A machine's own configuration may load it for all programs.
        let isThere = OSSL_PROVIDER_available(nil, "legacy")
        let before = try await PostgresConnection.connect(configuration)
        for _ in 0..<100 {
            #expect(try ClientCertificate(file: file, passphrase: "secret").name == "old")
            #expect(throws: GatewayCredentialError.self) {
                try ClientCertificate(file: file, passphrase: "another")
            }
        }
        #expect(OSSL_PROVIDER_available(nil, "legacy") == isThere, "what others do has the old ciphers now")
        let after = try await PostgresConnection.connect(configuration)
        let encrypted = PostgresStatement("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
        for connection in [before, after] {
            #expect(try await connection.execute(encrypted).bool(0, 0))
            await connection.close()
        }
        try await cluster.stop()
    }
}
