extension DeviceRegistration {
    /// A registration of values that did not come in a form; they are checked when they are placed.
    ///
    /// - Parameter pushToken: as ``PushTokenForm/normalised(_:_:)`` gives it.
    public init(
        platform: Platform,
        integrationKey: String,
        pushToken: String,
        userKey: String = "",
        deviceID: String? = nil,
        locale: String = "",
        device: [String: String] = [:],
        parameters: [String: String]? = nil
    ) {
        self.platform = platform
        self.integrationKey = integrationKey
        self.pushToken = pushToken
        self.userKey = userKey
        self.deviceID = deviceID
        self.locale = locale
        self.device = device
        self.parameters = parameters ?? [:]
        saysParameters = parameters != nil
        extra = [:]
        userKeyProof = nil
    }
}
