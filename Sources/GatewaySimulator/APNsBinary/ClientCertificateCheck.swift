import Foundation
import NIOSSL
import X509

/// Checks a client's certificate during the handshake, which is the binary gateway's only chance to refuse it.
struct ClientCertificateCheck: Sendable {
    private let authority: Certificate
    private let isSandbox: Bool
    /// Whether the gateway accepts any topic, so that a certificate need not name one.
    private let takesAnyTopic: Bool

    init(authority: Certificate, isSandbox: Bool, takesAnyTopic: Bool) {
        self.authority = authority
        self.isSandbox = isSandbox
        self.takesAnyTopic = takesAnyTopic
    }

    /// The topics of the certificate; nil if it is refused.
    func topics(_ certificates: [NIOSSLCertificate]) -> [String]? {
        guard let der = try? certificates.first?.toDERBytes(),
            case .success(let sender) = APNsSenderCertificate.judge(
                der,
                authority: authority,
                isSandbox: isSandbox,
                now: Date()
            )
        else { return nil }
        return sender.topics.isEmpty && takesAnyTopic ? ["*"] : sender.topics.sorted()
    }
}
