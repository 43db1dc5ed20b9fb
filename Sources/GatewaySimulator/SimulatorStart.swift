import HTTP2
import NIOCore
import NIOPosix
import NIOSSL

/// Starts a simulator, step by step.
struct SimulatorStart {
    let options: GatewaySimulatorOptions
    let group: MultiThreadedEventLoopGroup

    /// Starts everything. The simulator is ready when this returns.
    func run() async throws -> GatewaySimulator {
        let folder = try StateFolder(options.stateFolder)
        let authority = try CertificateAuthority(folder: folder, names: certificateNames)
        var recordFile: RecordFile?
        if let path = options.recordFile { recordFile = try RecordFile(path: path) }
        let core = try SimulatorCore(options: options, recordFile: recordFile)
        let fleet = DeviceFleet(group: group)
        let book = AccessTokenBook()
        let (oauth, credentials) = try await startTokenEndpoint(folder, authority, core, book)

        let apnsRules = try APNsRules(
            credentials: credentials,
            authority: authority.certificate,
            isSandbox: options.isSandbox,
            takesStringIssuedAt: options.takesStringIssuedAt
        )
        let fcmRules = FCMRules(projectID: options.projectID, book: book)
        var fcmSettings = HTTP2ServerSettings(maxConcurrentStreams: FCMRules.streamLimit)
        fcmSettings.violationDebugData = FCMRules.violationDebugData
        var apnsSettings = HTTP2ServerSettings(maxConcurrentStreams: APNsRules.firstStreamLimit)
        apnsSettings.violationDebugData = APNsRules.violationDebugData
        let apns = try await listen(
            apnsRules,
            "APNs",
            options.apnsPort,
            authority,
            core,
            fleet,
            apnsSettings,
            http1: nil
        )
        let fcm = try await listen(fcmRules, "FCM", options.fcmPort, authority, core, fleet, fcmSettings) {
            FCMHTTP1Handler(loop: $0)
        }
        let legacy = try await listenLegacy(credentials, authority, core)
        let binary = try await listenBinary(authority, core)
        let endpoint = ControlEndpoint(core: core, feedback: binary.service.feedback, fleet: fleet)
        let control = try await explained("the control port", options.controlPort) {
            try await HTTP1Listener.start(
                group: group,
                host: options.controlHost,
                port: options.controlPort,
                tls: nil,
                answer: { endpoint.answer($0) }
            )
        }
        let simulator = GatewaySimulator(
            SimulatorParts(
                core: core,
                fleet: fleet,
                group: group,
                apns: apns,
                fcm: fcm,
                fcmLegacy: legacy,
                apnsBinary: binary,
                oauth: oauth,
                control: control,
                recordFile: recordFile,
                caFile: authority.caFile,
                credentials: credentials
            )
        )
        try writePorts(simulator, folder)
        return simulator
    }

    private func startTokenEndpoint(
        _ folder: StateFolder,
        _ authority: CertificateAuthority,
        _ core: SimulatorCore,
        _ book: AccessTokenBook
    ) async throws -> (HTTP1Listener, SimulatorCredentials) {
        let endpoint = LateTokenEndpoint()
        let tls = try context(authority, protocols: ["http/1.1"])
        let listener = try await explained("the token endpoint", options.oauthPort) {
            try await HTTP1Listener.start(
                group: group,
                host: options.host,
                port: options.oauthPort,
                tls: tls,
                answer: { endpoint.answer($0) }
            )
        }
        let conditions = core.conditions(.fcm)
        conditions.observe { listener.socket.setOpen(!conditions.current.isTokenEndpointClosed) }
        let host = options.host.contains(":") ? "[\(options.host)]" : options.host
        let credentials = try CredentialMaker(
            folder: folder,
            authority: authority,
            isSandbox: options.isSandbox,
            topics: options.apnsTopics,
            projectID: options.projectID,
            tokenURI: "https://\(host):\(listener.port)/token"
        ).make()
        endpoint.set(
            try TokenEndpoint(
                credentials: credentials,
                lifetimeSeconds: options.accessTokenLifetimeSeconds,
                book: book,
                conditions: conditions,
                recorder: core.recorder(.fcm)
            )
        )
        return (listener, credentials)
    }

    private func listen<Rules: GatewayRules & Sendable>(
        _ rules: Rules,
        _ name: String,
        _ port: Int,
        _ authority: CertificateAuthority,
        _ core: SimulatorCore,
        _ fleet: DeviceFleet,
        _ settings: HTTP2ServerSettings,
        http1: (@Sendable (GatewayLoop<Rules>) -> any ChannelHandler)?
    ) async throws -> GatewayListener<Rules> {
        let conditions = core.conditions(Rules.gateway)
        let recorder = core.recorder(Rules.gateway)
        var loops: [NIOLoopBound<GatewayLoop<Rules>>] = []
        for eventLoop in group.makeIterator() {
            let loop = eventLoop.submit {
                let loop = GatewayLoop(
                    eventLoop: eventLoop,
                    rules: rules,
                    recorder: recorder,
                    fleet: fleet,
                    conditions: conditions,
                    seed: UInt64.random(in: 0...UInt64.max)
                )
                return NIOLoopBound(loop, eventLoop: eventLoop)
            }
            loops.append(try await loop.get())
        }
        let protocols = http1 == nil ? ["h2"] : ["h2", "http/1.1"]
        let tls = try context(authority, protocols: protocols, asksSender: Rules.gateway == .apns)
        let shares = loops
        let listener = try await explained("the \(name) gateway", port) {
            try await GatewayListener.start(
                group: group,
                host: options.host,
                port: port,
                tls: tls,
                loops: shares,
                conditions: conditions,
                settings: settings,
                http1: http1
            )
        }
        conditions.observe { listener.refresh() }
        return listener
    }

    private func listenLegacy(
        _ credentials: SimulatorCredentials,
        _ authority: CertificateAuthority,
        _ core: SimulatorCore
    ) async throws -> FCMLegacyListener {
        let service = FCMLegacyService(
            rules: FCMLegacyRules(projectKey: credentials.fcmProjectKey),
            recorder: core.recorder(.fcmLegacy),
            conditions: core.conditions(.fcmLegacy)
        )
        let tls = try context(authority, protocols: ["http/1.1"])
        let listener = try await explained("the legacy FCM gateway", options.fcmLegacyPort) {
            try await FCMLegacyListener.start(
                group: group,
                host: options.host,
                port: options.fcmLegacyPort,
                tls: tls,
                service: service
            )
        }
        core.conditions(.fcmLegacy).observe { service.connections.conditionsChanged() }
        return listener
    }

    /// localhost, both loopback addresses, and the options' names.
    private var certificateNames: [String] {
        Array(Set(["localhost", "127.0.0.1", "::1", options.host] + options.certificateNames)).sorted()
    }

    func context(
        _ authority: CertificateAuthority,
        protocols: [String],
        asksSender: Bool = false,
        needsSender: Bool = false
    ) throws -> NIOSSLContext {
        let chain = try NIOSSLCertificate.fromPEMBytes(Array(authority.serverCertificatePEM.utf8))
        let key = try NIOSSLPrivateKey(bytes: Array(authority.serverKeyPEM.utf8), format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(key)
        )
        configuration.minimumTLSVersion = .tlsv12
        if asksSender { SenderTLS.ask(&configuration) }
        if needsSender { configuration.certificateVerification = .noHostnameVerification }
        configuration.applicationProtocols = protocols
        return try NIOSSLContext(configuration: configuration)
    }

    func explained<Result>(_ name: String, _ port: Int, _ body: () async throws -> Result) async throws
        -> Result
    {
        do {
            return try await body()
        } catch {
            throw SimulatorError(
                .listen,
                "\(name) cannot listen on \(options.host) port \(port) (\(error)): choose a free port, or 0 for any"
            )
        }
    }

    private func writePorts(_ simulator: GatewaySimulator, _ folder: StateFolder) throws(SimulatorError) {
        let text = """
            {"apns":\(simulator.apnsPort),"fcm":\(simulator.fcmPort),"fcm-legacy":\(simulator.fcmLegacyPort),\
            "apns-binary":\(simulator.apnsBinaryPort),"apns-feedback":\(simulator.apnsFeedbackPort),\
            "oauth":\(simulator.oauthPort),"control":\(simulator.controlPort)}

            """
        try StateFolder.write(options.portFile ?? folder.file("ports.json"), text, isSecret: false)
    }
}

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
        core.conditions(.apnsBinary).observe { service.connections.conditionsChanged() }
        return listener
    }
}
