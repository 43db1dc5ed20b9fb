extension DrillCatalog {
    /// Gateways that misbehave, keys that are revoked, environments that are mixed up, control while it runs.
    static let gateways: [any Drill] = [
        GatewayGoAwayDrill(), GatewayRefusedDrill(), GatewayLimitDrill(), GatewayResetDrill(), GatewayStallDrill(),
        Gateway503Drill(), Gateway429Drill(), GatewayOutageDrill(), KeyRevokedDrill(), EnvironmentMixUpDrill(),
        FalseDevicesDrill(),
        ControlDrill(),
    ]
    /// Crash points.
    static let crashes: [any Drill] = [CrashPointsDrill()]
}
