import NIOSSL
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A PEM file of certificate authorities that an external account trusts.
package enum CertificateAuthorities {
    /// Checks that a file's bytes hold certificates, all of which can be read.
    ///
    /// - Throws: `GatewayCredentialError` that says what is wrong and what to supply instead.
    package static func check(_ pem: [UInt8]) throws(GatewayCredentialError) {
        guard (try? NIOSSLCertificate.fromPEMBytes(pem))?.isEmpty == false else {
            throw GatewayCredentialError(.malformed, problem(pem))
        }
    }

    /// Checks that this host has a file of authorities and can use it.
    ///
    /// - Parameter account: the external account that names it; nil if the setting does.
    /// - Throws: `GatewaySetupFailure` that names the file, the host, what refers to the file, and what to do.
    package static func check(file: String, ofAccount account: String?) throws(GatewaySetupFailure) {
        let owner = account.map { "external account \($0)" } ?? "the setting nmac.relay.trustedCertsChain"
        let change = account.map { "`pushmta account set \($0) --ca-file FILE`" } ?? "nmac.relay.trustedCertsChain"
        let host = ProcessInfo.processInfo.hostName
        let user = ProcessInfo.processInfo.userName
        let subject = "the file \(file) of certificate authorities, which \(owner) names,"
        // Reading a pipe or a device might never end, and console users can name any path.
        let real = URL(fileURLWithPath: file).resolvingSymlinksInPath().path
        if let kind = try? FileManager.default.attributesOfItem(atPath: real)[.type] as? FileAttributeType,
            kind != .typeRegular
        {
            throw GatewaySetupFailure(
                "\(subject) is not a regular file on host \(host)",
                remedy: "name a file in PEM with \(change)",
                isHostsFault: true
            )
        }
        guard let pem = FileManager.default.contents(atPath: file) else {
            guard FileManager.default.fileExists(atPath: file) else {
                throw GatewaySetupFailure(
                    "\(subject) does not exist on host \(host), or is in a folder that the user \(user) may not enter",
                    remedy: "copy it from a host that has it, or name another one with \(change)",
                    isHostsFault: true
                )
            }
            throw GatewaySetupFailure(
                "\(subject) cannot be read on host \(host) by the user \(user)",
                remedy: "let \(user) read it: chmod 644 \(file)",
                isHostsFault: true
            )
        }
        do {
            try check(Array(pem))
        } catch {
            throw GatewaySetupFailure(
                "\(subject) cannot be used on host \(host): \(error)",
                remedy: "replace it with a valid file, or name another one with \(change)",
                isHostsFault: true
            )
        }
    }

    private static func problem(_ pem: [UInt8]) -> String {
        // DER: a SEQUENCE with a long length.
        if pem.starts(with: [0x30, 0x82]) {
            return "it is a certificate in DER: convert it with openssl x509 -inform der -in FILE -out FILE.pem"
        }
        guard pem.firstRange(of: Array("-----BEGIN CERTIFICATE-----".utf8)) != nil else {
            return
                "it holds no certificate (\"-----BEGIN CERTIFICATE-----\"): give the PEM file of the authority that signed the gateway's certificate"
        }
        return "one of its certificates cannot be read: give the complete PEM file, as it was issued"
    }
}
