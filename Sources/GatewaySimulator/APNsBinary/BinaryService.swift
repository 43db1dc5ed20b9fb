import Foundation
import NIOSSL
import X509

/// What the connections of the binary gateway share.
final class BinaryService: Sendable {
    let recorder: GatewayRecorder
    let conditions: SharedConditions
    let certificates: ClientCertificateCheck
    let feedback = FeedbackBook()
    let connections: ConnectionGroup<BinaryServerConnection>

    init(recorder: GatewayRecorder, conditions: SharedConditions, certificates: ClientCertificateCheck) {
        self.recorder = recorder
        self.conditions = conditions
        self.certificates = certificates
        connections = ConnectionGroup(
            recorder: recorder,
            conditions: conditions,
            isByCertificate: true,
            // Nothing is answered here that could be held back.
            stallsFrozen: true
        )
    }

    /// What the plan makes of a notification that would be taken; nil to take it.
    func injected(_ plan: FaultPlan) -> BinaryStatus? {
        connections.rollAcceptable { number, dice in
            if let fault = plan.errorPackets, number.isMultiple(of: fault.every) {
                return BinaryStatus(code: fault.status)
            }
            guard !plan.errors.isEmpty else { return nil }
            var draw = dice.unit()
            for error in plan.errors {
                draw -= error.rate
                if draw < 0 { return BinaryStatus(rawValue: error.reason) }
            }
            return nil
        }
    }
}

/// Checks the certificate that a client shows during the handshake: the binary gateway has no other moment to refuse it.
struct ClientCertificateCheck: Sendable {
    private let authority: Certificate
    private let isSandbox: Bool
    /// The gateway takes any topic, so a certificate need not name one.
    private let takesAnyTopic: Bool

    init(authority: Certificate, isSandbox: Bool, takesAnyTopic: Bool) {
        self.authority = authority
        self.isSandbox = isSandbox
        self.takesAnyTopic = takesAnyTopic
    }

    /// The topics of the certificate; nil when it is refused.
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
