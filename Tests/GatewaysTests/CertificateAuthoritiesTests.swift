import Foundation
import GatewaySimulator
import GatewayTestSupport
import Gateways
import Testing

/// Checks of an account's file of authorities before it is used to connect.
@Suite struct CertificateAuthoritiesTests {
    @Test func theSimulatorsAuthorityIsOneAndSeveralAre() async throws {
        try await Fixture.run { fixture in
            let pem = Array(try Data(contentsOf: URL(fileURLWithPath: fixture.simulator.caFile))) + Array("\n".utf8)
            try CertificateAuthorities.check(pem)
            try CertificateAuthorities.check(Array("# a comment\n".utf8) + pem + pem)
            let halved = pem + pem.prefix(pem.count / 2)
            let text = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
            for broken in [Array(pem.prefix(pem.count / 2)), Array(text.utf8), pem + Array(text.utf8), halved] {
                let error = #expect(throws: GatewayCredentialError.self) { try CertificateAuthorities.check(broken) }
                #expect(error?.message.contains("cannot be read") == true)
            }
        }
    }

    @Test(arguments: [
        ("", "no certificate"), ("#!/bin/sh\necho\n", "no certificate"),
        ("-----BEGIN PRIVATE KEY-----\n", "no certificate"),
    ])
    func whatHoldsNoneIsRefused(_ text: String, _ words: String) {
        let error = #expect(throws: GatewayCredentialError.self) { try CertificateAuthorities.check(Array(text.utf8)) }
        #expect(error?.message.contains(words) == true)
        #expect(throws: GatewayCredentialError.self) { try CertificateAuthorities.check([0x30, 0x82, 1, 2]) }
    }

    /// An administrator of accounts can name any path, and reading a pipe might never end.
    @Test(arguments: ["/dev/zero", "/tmp"]) func whatIsNoRegularFileIsNotRead(path: String) {
        let error = #expect(throws: GatewaySetupFailure.self) {
            try CertificateAuthorities.check(file: path, ofAccount: "apns")
        }
        #expect("\(error as Any)".contains("not a regular file"))
    }
}
