package org.opensearch.transport.grpc.spi;

/** What the plugin for vectors implements for gRPC, which these nodes do not serve; the original is not on Maven Central. */
public interface QueryBuilderProtoConverter {}
