import NIOCore
import NIOPosix
import NIOSSL

/// The start of the binary gateway and its feedback service.
extension SimulatorStart {
    func listenBinary(_ authority: CertificateAuthority, _ core: SimulatorCore) async throws -> BinaryListener {
        let service = BinaryService(
            recorder: core.recorder(.apnsBinary),
            conditions: core.conditions(.apnsBinary),
            certificates: ClientCertificateCheck(
                authority: authority.certificate,
                isSandbox: options.isSandbox,
                takesAnyTopic: options.apnsTopics.isEmpty
            )
        )
        let tls = try context(authority, protocols: [], needsSender: true)
        let listener = try await explained("the binary APNs gateway or its feedback service", options.apnsBinaryPort) {
            try await BinaryListener.start(
                group: group,
                host: options.host,
                port: options.apnsBinaryPort,
                feedbackPort: options.apnsFeedbackPort,
                tls: tls,
                service: service
            )
        }
        core.conditions(.apnsBinary).observe { service.conditionsChanged() }
        return listener
    }
}
