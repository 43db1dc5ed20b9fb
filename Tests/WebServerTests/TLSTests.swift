import Foundation
import NIOSSL
import PushCore
import Store
import TestSupport
import Testing

@testable import WebServer

@Suite struct TLSTests {
    @Test func bothSocketsServe() async throws {
        let folder = NSTemporaryDirectory() + "tls-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Self.makeCertificate(folder, days: 2)
        let port = Int(try FreePort.find())
        let site = try await WebSite.start {
            $0.tlsPort = port
            $0.certificateFile = folder + "/cert.pem"
            $0.privateKeyFile = folder + "/key.pem"
            $0.limits.headerTimeoutSec = 2
        }
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .file(folder + "/cert.pem")
        let context = try NIOSSLContext(configuration: configuration)
        let answer = try await RawHTTP.exchange(
            port: port,
            RawHTTP.request(
                "POST",
                "/nms/mobile/1/registerIOS.jssp",
                body: "registrationToken=70757368546f6b656e&mobileAppUuid=integrationKey"
            ),
            tls: context
        )
        #expect(answer.status == 200)
        #expect(try await site.get("/r/test").status == 200)
        // After plain text on the TLS port, or without a handshake, the connection ends.
        _ = try? await RawHTTP.exchange(port: port, [Array("GET / HTTP/1.1\r\n\r\n".utf8)], answers: 1)
        #expect(try await RawHTTP.exchange(port: port, [[]], answers: 1).isEmpty)
        try await site.drain()
    }

    /// Writes a certificate for localhost with its key, over an existing one.
    private static func makeCertificate(_ folder: String, days: Int) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        process.arguments =
            "req -new -x509 -nodes -days \(days) -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout \(folder)/key.pem -out \(folder)/cert.pem"
            .split(separator: " ").map(String.init)
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
    }

    @Test func anotherCertificateIsTakenWithoutARestart() async throws {
        let folder = NSTemporaryDirectory() + "tls-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Self.makeCertificate(folder, days: 5)
        let port = Int(try FreePort.find())
        let site = try await WebSite.start {
            $0.tlsPort = port
            $0.certificateFile = folder + "/cert.pem"
            $0.privateKeyFile = folder + "/key.pem"
        }
        func serves(_ certificate: NIOSSLCertificate) async throws -> Bool {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.trustRoots = .certificates([certificate])
            let context = try NIOSSLContext(configuration: configuration)
            let request = RawHTTP.request("GET", "/r/test", body: "")
            return (try? await RawHTTP.exchange(port: port, request, tls: context).status) == 200
        }
        let first = try NIOSSLCertificate.fromPEMFile(folder + "/cert.pem")[0]
        #expect(try await serves(first))
        // Its expiry is reported five days ahead.
        try await eventually("the database knows it") {
            try await site.admin.alarms().contains {
                $0.code == "certificate_expiry" && $0.subject == "tracking-1" && $0.text.contains("expires in 4 days")
            }
        }
        // Files that do not match change nothing.
        try "nothing".write(toFile: folder + "/key.pem", atomically: true, encoding: .utf8)
        site.server.reloadCertificate()
        #expect(try await serves(first))
        try Self.makeCertificate(folder, days: 90)
        let second = try NIOSSLCertificate.fromPEMFile(folder + "/cert.pem")[0]
        #expect(!(try await serves(second)), "nobody has said that there is another one")
        site.server.reloadCertificate()
        #expect(try await serves(second))
        #expect(!(try await serves(first)))
        try await eventually("the database knows that it is another one") {
            try await site.admin.alarms().allSatisfy { $0.code != "certificate_expiry" }
        }
        try await site.drain()
    }

    @Test func aWrongCertificateIsASettingsError() async throws {
        await #expect(throws: WebServerError.self) {
            _ = try await WebSite.start(waits: false) {
                $0.port = 0
                $0.tlsPort = 4_433
                $0.certificateFile = "/nowhere/cert.pem"
            }.drain()
        }
    }
}
