import NIOPosix

/// Everything that a running simulator is made of.
struct SimulatorParts {
    var core: SimulatorCore
    var fleet: DeviceFleet
    var group: MultiThreadedEventLoopGroup
    var apns: GatewayListener<APNsRules>
    var fcm: GatewayListener<FCMRules>
    var fcmLegacy: FCMLegacyListener
    var apnsBinary: BinaryListener
    var oauth: HTTP1Listener
    var control: HTTP1Listener
    var recordFile: RecordFile?
    var caFile: String
    var credentials: SimulatorCredentials
}
